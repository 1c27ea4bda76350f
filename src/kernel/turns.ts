// Long background work gives way to other work: an isolate does one thing at a time, and without I/O nothing comes between.
// Work is counted, since the clock stands still while an isolate works.

/** Steps that say how much work each was, and what comes of them all. */
export type Steps<T> = Generator<number, T>

/** Takes the steps one after the other, with a `turn` for others each time that `most` units of work are done. */
export async function inTurns<T>(steps: Steps<T>, most: number, turn: () => Promise<void>): Promise<T> {
  let done = 0
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    done += step.value
    if (done < most) continue
    done = 0
    await turn()
  }
}

/** Takes the steps at once; `counted` is given the work of each. */
export function atOnce<T>(steps: Steps<T>, counted: (work: number) => void = () => {}): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    counted(step.value)
  }
}
