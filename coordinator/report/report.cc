#include "coordinator/report/report.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/report/report_csv.h"
#include "coordinator/report/report_json.h"
#include "coordinator/report/report_md.h"
#include "coordinator/report/report_model.h"
#include "coordinator/report/report_text.h"

namespace benchfleet {

absl::StatusOr<std::string> RenderReport(RoundStore& store, int64_t run_id,
                                         v1::ReportFormat format) {
  ASSIGN_OR_RETURN(const ReportModel model, ReadReportModel(store, run_id));
  switch (format) {
    case v1::REPORT_FORMAT_UNSPECIFIED:
    case v1::REPORT_TEXT:
      return ReportText(model);
    case v1::REPORT_JSON:
      return ReportJson(model);
    case v1::REPORT_CSV:
      return ReportCsv(model);
    case v1::REPORT_MD:
      return ReportMarkdown(model);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("unknown report format ", static_cast<int>(format)));
  }
}

}  // namespace benchfleet
