#include "tests/enginesim/engine_model.h"

#include <algorithm>
#include <cmath>

namespace benchfleet::enginesim {
namespace {

int64_t Ns(double ms) { return std::llround(ms * 1e6); }

}  // namespace

EngineModel::EngineModel(const Profile& profile, uint64_t seed)
    : profile_(profile), random_(DeriveSeed({seed, 0x656e67696e65})) {}

void EngineModel::Add(const ModelRequest& request) {
  requests_[request.id] = {.prompt_tokens = std::max(request.prompt_tokens, 1u),
                           .output_tokens = request.output_tokens};
  const int64_t ready =
      std::max(request.arrival_ns, now_ns_) +
      Ns(profile_.frontend_ms +
         profile_.frontend_ms_per_token * request.prompt_tokens);
  last_visible_ns_ =
      std::max(ready, last_visible_ns_ + Ns(profile_.frontend_spacing_ms));
  inbox_.push_back({last_visible_ns_, request.id});
}

void EngineModel::Cancel(uint64_t id) {
  if (requests_.erase(id) == 0) return;
  inbox_.erase(std::remove_if(inbox_.begin(), inbox_.end(),
                              [id](const Arrival& a) { return a.id == id; }),
               inbox_.end());
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), id),
                 waiting_.end());
  running_.erase(std::remove(running_.begin(), running_.end(), id),
                 running_.end());
  due_.erase(
      std::remove_if(due_.begin(), due_.end(),
                     [id](const TokenEvent& e) { return e.request == id; }),
      due_.end());
}

int64_t EngineModel::NextInternalNs() const {
  if (busy_) return std::min(close_ns_, current_.end_ns);
  return inbox_.empty() ? kNever : inbox_.front().visible_ns;
}

int64_t EngineModel::NextEventNs() const {
  const int64_t internal = NextInternalNs();
  return due_.empty() ? internal : std::min(internal, due_.front().at_ns);
}

void EngineModel::AdvanceTo(int64_t now_ns, std::vector<TokenEvent>& out) {
  for (int64_t t = NextInternalNs(); t <= now_ns && t != kNever;
       t = NextInternalNs())
    Process(t);
  now_ns_ = std::max(now_ns_, now_ns);
  while (!due_.empty() && due_.front().at_ns <= now_ns) {
    out.push_back(due_.front());
    if (due_.front().last) requests_.erase(due_.front().request);
    due_.pop_front();
  }
}

void EngineModel::Process(int64_t now_ns) {
  if (!busy_) {
    StartFromIdle(now_ns);
  } else if (close_ns_ <= current_.end_ns) {
    ClosePlanning(now_ns);
  } else {
    EndStep(now_ns);
  }
}

void EngineModel::StartFromIdle(int64_t now_ns) {
  if (profile_.scheduling == Scheduling::kMixed) {
    TakeArrivals(now_ns);
    Start(Plan(), now_ns);
    close_ns_ = now_ns;
    return;
  }
  const double open_ms =
      std::max(0.0, profile_.gather_ms +
                        profile_.gather_per_decode * last_decode_ms_) +
      Uniform() * profile_.gather_jitter_ms;
  busy_ = true;
  current_ = Step();
  current_.start_ns = now_ns;
  current_.end_ns = kNever;
  // The step's shortest time bounds how long it may stay open.
  close_ns_ =
      now_ns + Ns(std::min(open_ms, 0.9 * profile_.prefill_ms.front().second));
}

void EngineModel::ClosePlanning(int64_t now_ns) {
  TakeArrivals(now_ns);
  close_ns_ = kNever;
  if (profile_.scheduling == Scheduling::kMixed) {
    next_ = Plan();
    return;
  }
  const int64_t start_ns = current_.start_ns;
  Step step = Plan();
  if (step.empty()) {  // all were cancelled meanwhile
    busy_ = false;
    return;
  }
  Start(std::move(step), start_ns);
}

void EngineModel::Start(Step step, int64_t now_ns) {
  busy_ = !step.empty();
  if (!busy_) return;
  current_ = std::move(step);
  current_.start_ns = now_ns;
  current_.end_ns = now_ns + StepNs(current_);
}

void EngineModel::EndStep(int64_t now_ns) {
  const Step ended = std::move(current_);
  if (profile_.scheduling == Scheduling::kPrefillFirst) {
    TakeArrivals(now_ns);
    // Its tokens leave after the launch of the next step, which may admit
    // requests into the slots that this one frees.
    const size_t before = due_.size();
    Produce(ended, now_ns);
    Step next = Plan();
    const bool held = next.prefill_tokens > 0;
    Start(std::move(next), now_ns);
    if (!held) return;
    const int64_t leave_ns =
        std::min(now_ns + Ns(profile_.prefill_launch_ms), current_.end_ns);
    for (size_t i = before; i < due_.size(); ++i) due_[i].at_ns = leave_ns;
    return;
  }
  const size_t finished = Produce(ended, now_ns);
  Step next = std::move(next_);
  next_ = Step();
  if (next.empty()) {
    TakeArrivals(now_ns);
    next = Plan();
  }
  Start(std::move(next), now_ns);
  const double plan_ms =
      std::min(profile_.gather_max_ms, profile_.gather_per_finished_ms *
                                           static_cast<double>(finished)) +
      Uniform() * profile_.gather_jitter_ms;
  close_ns_ = busy_ ? std::min(now_ns + Ns(plan_ms), current_.end_ns) : kNever;
}

size_t EngineModel::Produce(const Step& step, int64_t at_ns) {
  size_t finished = 0;
  for (uint64_t id : step.producing) {
    const auto it = requests_.find(id);
    if (it == requests_.end()) continue;  // cancelled
    Request& request = it->second;
    const uint32_t index = request.produced++;
    const bool last = request.produced == request.output_tokens;
    due_.push_back({at_ns, id, index, last});
    if (last) ++finished;
  }
  if (finished > 0)
    running_.erase(std::remove_if(running_.begin(), running_.end(),
                                  [this](uint64_t id) {
                                    const Request& r = requests_.at(id);
                                    return r.produced == r.output_tokens;
                                  }),
                   running_.end());
  return finished;
}

void EngineModel::TakeArrivals(int64_t now_ns) {
  while (!inbox_.empty() && inbox_.front().visible_ns <= now_ns) {
    waiting_.push_back(inbox_.front().id);
    inbox_.pop_front();
  }
}

EngineModel::Step EngineModel::Plan() {
  Step step;
  uint32_t budget = profile_.chunk_tokens;
  if (profile_.scheduling == Scheduling::kMixed) {
    PlanDecodes(step, budget);
    PlanPrefills(step, budget);
    return step;
  }
  PlanPrefills(step, budget);
  if (step.prefill_tokens == 0) PlanDecodes(step, budget);
  return step;
}

void EngineModel::PlanDecodes(Step& step, uint32_t& budget) {
  for (uint64_t id : running_) {
    Request& request = requests_.at(id);
    if (request.prefilled < request.prompt_tokens) continue;
    if (request.planned == request.output_tokens || budget == 0) continue;
    step.producing.push_back(id);
    step.context_tokens += request.prompt_tokens + request.planned;
    ++step.decodes;
    ++request.planned;
    --budget;
  }
}

void EngineModel::PlanPrefills(Step& step, uint32_t& budget) {
  for (uint64_t id : running_) {
    Request& request = requests_.at(id);
    if (budget > 0 && request.prefilled < request.prompt_tokens)
      PlanChunk(id, request, step, budget);
  }
  while (budget > 0 && !waiting_.empty() &&
         running_.size() < profile_.max_running_requests) {
    const uint64_t id = waiting_.front();
    waiting_.pop_front();
    running_.push_back(id);
    PlanChunk(id, requests_.at(id), step, budget);
  }
}

void EngineModel::PlanChunk(uint64_t id, Request& request, Step& step,
                            uint32_t& budget) {
  const uint32_t chunk =
      std::min(budget, request.prompt_tokens - request.prefilled);
  step.prefill_tokens += chunk;
  step.prefill_pairs += chunk * (request.prefilled + chunk / 2.0);
  request.prefilled += chunk;
  budget -= chunk;
  if (request.prefilled < request.prompt_tokens) return;
  step.producing.push_back(id);
  ++request.planned;
}

int64_t EngineModel::StepNs(const Step& step) {
  double ms = 0;
  if (step.decodes > 0) {
    ms = Interpolate(profile_.decode_ms, step.decodes) +
         profile_.decode_ms_per_context_token * step.context_tokens;
  }
  if (step.prefill_tokens > 0) {
    // The launch of the prefill's kernels and the decodes come one after the
    // other; beyond the launch, prefill compute hides the decodes.
    const double prefill_ms =
        Interpolate(profile_.prefill_ms, step.prefill_tokens + step.decodes);
    ms = std::max(
        std::min(prefill_ms, profile_.prefill_launch_ms) + ms,
        prefill_ms + profile_.prefill_ms_per_pair * step.prefill_pairs);
  } else {
    last_decode_ms_ = ms;
  }
  if (profile_.jitter > 0) {
    // Three uniforms make a bell of standard deviation 1/2, within +-1.5.
    const double bell = Uniform() + Uniform() + Uniform() - 1.5;
    ms *= 1 + 2 * profile_.jitter * bell;
  }
  return std::max<int64_t>(Ns(ms), 1);
}

double EngineModel::Uniform() {
  return static_cast<double>(random_.Next() >> 11) * 0x1p-53;
}

}  // namespace benchfleet::enginesim
