// The steps of a deployment, in their order. Each looks whether it is done already, so that a run that was cut off is simply
// run again, and a second one makes nothing twice.

export type Step = {
  /** What is there afterwards: `bucket bindery-files`. */
  readonly name: string
  /** Whether there is nothing to do. Absent: it is done at every deployment. */
  isDone?(): Promise<boolean>
  carryOut(): Promise<void>
}

export type Said = (line: string) => void

/** Carries out what is not done yet; the Error of the first step that fails says which one it was. */
export async function carryOut(steps: readonly Step[], say: Said): Promise<void> {
  for (const step of steps) {
    try {
      if (await step.isDone?.()) {
        say(`${step.name}: is there`)
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

/** Lists the steps and whether each is done; carries out none. */
export async function listSteps(steps: readonly Step[], say: Said): Promise<void> {
  for (const step of steps) {
    if (!step.isDone) say(`${step.name}: would be done`)
    else say(`${step.name}: ${(await step.isDone()) ? 'is there' : 'would be made'}`)
  }
}
