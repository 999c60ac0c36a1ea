# sglang with MiniMax-M3 (BF16) on 8 H20-3e, fitted to medians by enginesim_fit;
# README.md says how, reference_fit_test.cc how well.
scheduling prefill_first
max_running_requests 32
context_window 32768
chunk_tokens 4096
frontend_ms 6.071
frontend_ms_per_token 0.005844
frontend_spacing_ms 1.097
prefill_launch_ms 121
prefill_ms_per_pair 1.42e-06
decode_ms_per_context_token 7.055e-06
gather_ms -4.5
gather_per_decode 0.5
gather_per_finished_ms 0
gather_max_ms 0
gather_jitter_ms 4.688
jitter 0.004
prefill_ms 1=119.9 1300=121.3 4096=374.2
decode_ms 1=6.844 4=9.058 8=12.42 16=16.62 32=22.95
