# Redirections and here-documents.
cd "$1"
echo one > a; echo two >> a; cat a; cat < a > b; cat b
echo err >&2 2>/dev/null; (echo out; echo err >&2) 2>&1 | cat
(echo out; echo err >&2) >c 2>&1; cat c
(echo out; echo err >&2) 2>e >c; cat c; cat e
ls /nothing-there 2>/dev/null || echo failed
echo x > a > b; cat a; cat b
> empty; cat empty; : > a; cat a
{ echo 1; echo 2; } > g; cat g; for i in 1 2; do echo $i; done > g; cat g
while read l; do echo "<$l>"; done < g
exec 3>three; echo to three >&3; exec 3>&-; cat three
exec 4<three; read line <&4; echo "$line"; exec 4<&-
echo no >&9 2>/dev/null || echo bad descriptor
cat <<EOF
plain $((1+1)) $(echo sub) `echo back` \$x "quoted" 'single' \\ \a
EOF
cat <<'EOF'
raw $x $(no) \$
EOF
cat <<-EOF
	tabs
		gone
	EOF
cat <<A; cat <<B
first
A
second
B
x=val; cat <<EOF | cat
piped $x ${x#v}
EOF
f() { cat <<EOF
in a function: $1
EOF
}; f 1; f 2
while read a b; do echo "$b $a"; done <<EOF
1 2
3 4
EOF
cat <<EOF
line one \
continued
EOF
cat <<EOF
joined to \
EOF
and not \\
EOF
cat <<-EOF
	tabs\
	stay
	EOF
cat <<'EOF'
as it is\
EOF
cat <nothing 2>/dev/null; echo $?
echo x >/nothing/there 2>/dev/null; echo $?
(: <nothing || echo no) 2>/dev/null; echo $?; (exec <nothing; echo no) 2>/dev/null; echo $?
(set -C; echo x > clob; echo y > clob) 2>/dev/null; echo $?; cat clob
(set -C; echo z >| clob); cat clob
echo a 1>f1 2>f2; cat f1 f2; echo b 2>f2 >f1; cat f1
echo in > i; cat < i - < i
cat 0<i; cat <>i
printf '%s' "no newline" | { read x; echo "$? $x"; }
printf '%s\n' 'a\b\n' > r; read x < r; echo "$x" | cat; read -r x < r; printf '%s\n' "$x"
printf 'a\\\nb\n' | { read x; echo "$x"; }
printf ' lead trail \n' | { read x; echo "[$x]"; }
printf 'a:b:c:d\n' | { IFS=: read x y z; echo "$x|$y|$z"; }
printf 'x::y\n' | { IFS=: read a b c; echo "$a|$b|$c"; }
echo $(cat <i) "$(< /dev/null cat)"
