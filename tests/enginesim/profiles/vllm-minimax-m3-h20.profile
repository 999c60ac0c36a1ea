scheduling mixed
max_running_requests 32
context_window 32768
chunk_tokens 2048
frontend_ms 5
frontend_ms_per_token 0.003
frontend_spacing_ms 2.5
prefill_launch_ms 101.9
prefill_ms 1=7 64=7 65=101.9 1440=101.9 1664=136 2048=187
prefill_ms_per_pair 1.47e-6
decode_ms_per_context_token 0.0000049
gather_ms 0
gather_per_decode 0
gather_per_finished_ms 1.2
gather_max_ms 8
gather_jitter_ms 0
jitter 0.004
decode_ms 1=7.0 4=11.26 8=16.08 16=15.55 32=21.65
