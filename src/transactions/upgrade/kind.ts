// The upgrade of a policy to another version of the configuration, as a kind of operation.
import { storedAnswer } from '../../platform/commit.ts'
import { loadVersion } from '../../policy/store/loading.ts'
import { defineKind, json } from '../mechanism/kind.ts'
import { constraintProblems } from './constraints.ts'
import type { PolicyUpgradeRequest } from './contract.ts'
import { decideUpgrade } from './decision.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** To another version of the configuration; with `dryRun` nothing is stored. */
    upgrade: { request: PolicyUpgradeRequest }
  }
}

export const upgradeKind = defineKind<'upgrade'>({
  name: 'upgrade',
  isReadOnly: ({ request }) => request.dryRun,
  async decide(loaded, { request }, { attempt, context, database }) {
    const target = await loadVersion(context, database, request.configVersion)
    const constraints = await constraintProblems(loaded, target, attempt)
    const { upgraded, answer } = decideUpgrade(loaded, target, request, attempt.now, constraints)
    // The policy may have the version already because this very request was carried out before.
    if (!upgraded) return { answer: (await storedAnswer(context, database)) ?? json(answer) }
    return { ...upgraded, response: () => answer }
  },
})
