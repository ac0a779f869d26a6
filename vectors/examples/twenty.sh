#!/bin/sh
# Answers twenty vectors with nothing but a shell and awk, written from README.md: k-anonymity, distinct l-diversity,
# (alpha, k)-anonymity, sample uniqueness and homogeneity, without conventions and without quoted cells.
cd "$(dirname "$0")/../cases" || exit 2
wrong=0 asked=0
for file in */[0-9]*.json; do
  measure=$(dirname "$file")
  case $measure in k_anonymity|distinct_l_diversity|alpha_k_anonymity|sample_uniqueness|homogeneity) ;; *) continue ;; esac
  [ "$measure" = "$before" ] || left=4 before=$measure
  grep -q '"conventions": {}' "$file" && ! grep -qE '"unit": |undefined|"weight"' "$file" || continue
  table="$measure/$(sed -n 's/^ "table": "\(.*\)",$/\1/p' "$file")"
  grep -q '"' "$table" || [ "$left" -eq 0 ] && continue
  left=$((left - 1)) asked=$((asked + 1))
  awk -F, -v OFS="\t" '
    function value(line) { sub(/^[^:]*: "?/, "", line); sub(/"?,? *$/, "", line); return line }
    function gcd(a, b) { return b ? gcd(b, a % b) : a }
    function fraction(a, b, g) { g = gcd(a, b); return b / g == 1 ? a / g : a / g "/" b / g }
    FNR == NR {                                             # the vector: one key a line, names of columns before roles
      if ($0 ~ /^ "id": /) id = value($0)
      if ($0 ~ /^ "measure": /) measure = value($0)
      if ($0 ~ /^ "answer": /) answer = value($0)
      if ($0 ~ /^  "attribute": /) secret = value($0)
      if ($0 ~ /^   "[^"]*": {$/) { column = $0; gsub(/^ *"|": {$/, "", column) }
      if ($0 ~ /"role": "quasi_identifier"/) quasi[column]
      next
    }
    FNR == 1 { for (i = 1; i <= NF; i++) { if ($i in quasi) known[i]; if ($i == secret) at = i }; next }
    {
      key = ""; for (i = 1; i <= NF; i++) if (i in known) key = key SUBSEP i "=" $i; size[key]++; n++
      if (at && $at != "") { members[key]++; if (++count[key, "=", $at] == 1) kinds[key]++
        if (count[key, "=", $at] > most[key]) most[key] = count[key, "=", $at] }
    }
    END {
      for (key in size) {
        if (size[key] == 1) alone++
        if (kinds[key] <= 1) alike += size[key]
        if (least == "" || size[key] < least) least = size[key]
        if (fewest == "" || kinds[key] + 0 < fewest) fewest = kinds[key] + 0
        if (!members[key]) none = 1; else if (most[key] * under > above * members[key] || !under) { above = most[key]; under = members[key] }
      }
      if (measure == "k_anonymity") said = least
      if (measure == "distinct_l_diversity") said = fewest
      if (measure == "alpha_k_anonymity") said = none ? "infinite" : fraction(above, under)
      if (measure == "sample_uniqueness" || measure == "homogeneity") said = fraction(measure ~ /^s/ ? alone : alike, n)
      print id, said, said == answer ? "right" : "wrong"
      exit said != answer
    }' "$file" "$table" || wrong=$((wrong + 1))
done
echo "$((asked - wrong)) of $asked right"
[ "$wrong" -eq 0 ] && [ "$asked" -eq 20 ]
