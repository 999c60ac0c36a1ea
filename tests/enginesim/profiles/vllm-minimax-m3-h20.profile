# vllm with MiniMax-M3 (BF16) on 8 H20-3e, fitted to medians by enginesim_fit;
# README.md says how, reference_fit_test.cc how well.
scheduling mixed
max_running_requests 32
context_window 32768
chunk_tokens 2048
frontend_ms 5
frontend_ms_per_token 0.004184
frontend_spacing_ms 1.185
prefill_launch_ms 74.34
prefill_ms_per_pair 1.147e-06
decode_ms_per_context_token 4.824e-06
gather_ms 0
gather_per_decode 0
gather_per_finished_ms 1.266
gather_max_ms 8.827
gather_jitter_ms 0.9176
jitter 0.004
prefill_ms 1=7 64=92.61 65=101.2 1440=132.9 1664=126.8 2048=189
decode_ms 1=7 4=11.27 8=16.08 16=15.5 32=21.5
