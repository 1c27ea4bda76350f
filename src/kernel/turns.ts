// Long background work yields to other work: an isolate has one thread, and without I/O nothing else runs. Work is counted because
// the clock stands still while an isolate computes.

/**
 * Lets other requests run. If the database answers immediately, they would not. A wait of 0 ms lets them run only late, and the
 * clock moves only during a wait.
 */
export const letOthersRun = (): Promise<void> => scheduler.wait(1)

/** Each step yields the amount of work that it did. */
export type Steps<T> = Generator<number, T>

/** Runs the steps; awaits `turn` after every `most` units of work. */
export async function runInTurns<T>(steps: Steps<T>, most: number, turn: () => Promise<void>): Promise<T> {
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

/** Runs all steps without a pause. Passes the work of each step to `counted`. */
export function runAllSteps<T>(steps: Steps<T>, counted: (work: number) => void = () => {}): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    counted(step.value)
  }
}
