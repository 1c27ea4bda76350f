// The steps of a deployment, in order. Each checks whether it is already done, so that an interrupted run can be started again,
// and a second run creates nothing twice.

export type Step = {
  /** What exists afterwards: `bucket bindery-files`. */
  readonly name: string
  /** Whether there is nothing to do. If absent, the step runs at every deployment. */
  isDone?(): Promise<boolean>
  carryOut(): Promise<void>
}

export type Said = (line: string) => void

/** Carries out the steps that are not done. The Error of a step that fails has the name of that step. */
export async function carryOut(steps: readonly Step[], say: Said): Promise<void> {
  for (const step of steps) {
    try {
      if (await step.isDone?.()) {
        say(`${step.name}: exists`)
        continue
      }
      await step.carryOut()
      say(`${step.name}: done`)
    } catch (problem) {
      throw new Error(`${step.name}: ${problem instanceof Error ? problem.message : String(problem)}`, {
        cause: problem,
      })
    }
  }
}

/** Lists the steps and whether each is done, without carrying out any. */
export async function listSteps(steps: readonly Step[], say: Said): Promise<void> {
  for (const step of steps) {
    if (!step.isDone) say(`${step.name}: would be done`)
    else say(`${step.name}: ${(await step.isDone()) ? 'exists' : 'would be created'}`)
  }
}
