scheduling prefill_first
max_running_requests 32
context_window 32768
chunk_tokens 4096
frontend_ms 7.006402785737565
frontend_ms_per_token 0.0034608535739758762
frontend_spacing_ms 1.0967098703888338
prefill_launch_ms 119
prefill_ms_per_pair 1.4165101706867239e-06
decode_ms_per_context_token 6.922454825725559e-06
gather_ms -4.5
gather_per_decode 0.5
gather_per_finished_ms 0
gather_max_ms 0
gather_jitter_ms 4.687910560543052
jitter 0.004
prefill_ms 1=119.45520014875954 1300=117.62411430934915 4096=376.1167821434575
decode_ms 1=6.844 4=9.058 8=12.437199999999999 16=16.66655053148919 32=22.95406890811487
