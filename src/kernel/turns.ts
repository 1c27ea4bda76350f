// Long background work yields to other work: an isolate has one thread, and without I/O nothing else runs. Work is
// counted, since the clock stands still while an isolate works.

/**
 * Lets other requests run: if the database answers at once, nothing else would. A wait of nothing lets them in late, and the clock
 * moves only while something is waited for.
 */
export const letOthersRun = (): Promise<void> => scheduler.wait(1)

/** Each step yields the amount of its work. */
export type Steps<T> = Generator<number, T>

/** Runs the steps; awaits `turn` after every `most` units of work. */
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

/** Runs all steps at once; `counted` gets the work of each. */
export function atOnce<T>(steps: Steps<T>, counted: (work: number) => void = () => {}): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    counted(step.value)
  }
}
