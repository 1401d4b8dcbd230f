# EVOLVE-BLOCK-START
MOST=20
STEP=7
# EVOLVE-BLOCK-END
i=1
while [ $i -le $MOST ]; do
    echo $((i * STEP))
    i=$((i + 1))
done
