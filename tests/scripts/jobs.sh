# The background, without job control.
true & wait; echo $?
(exit 3) & wait $!; echo $?
(exit 4) & p=$!; (exit 5) & q=$!; wait $q; echo $?; wait $p; echo $?
wait 99999; echo $?
{ echo in background; } & wait
x=0; { x=1; } & wait; echo $x
sleep 1000 & kill $!; wait $!; echo $?
sleep 1000 & p=$!; kill -9 $p; wait $p; echo $?
cat & wait; echo stdin was empty
for i in 1 2 3; do (exit $i) & done; wait; echo all
[ $$ -gt 1 ] && echo pid; [ "$$" = "$(echo $$)" ] && echo same; sh -c '[ $PPID ] || :'
kill -0 $$; echo $?; kill -0 99999 2>/dev/null; echo $?
true && (exit 6) & wait $!; echo $?
sh -c 'kill -9 $$'; echo $?
sh -c 'kill $$; echo no'; echo $?
