import { checkNameOf } from '../../src/gate/check-names.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import { readBranchProtection } from '../../src/github/protection/protection.ts'
import { readBranchRules, readRuleset } from '../../src/github/protection/rulesets.ts'
import { evaluateGate } from '../../src/protection/evaluate-gate.ts'
import type { ProtectionLayer } from '../../src/protection/protected-branch.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/** Whether only commits that our App passed can reach a branch, by GitHub's rules as they are now. */
export async function requiresCheck(
  { app }: WorkerContext,
  installation: number,
  octokit: Octokit,
  { url, owner, name: repo }: ReadableRepository,
  branch: string,
): Promise<boolean> {
  const [identity, rules, { layer, hidden }] = await Promise.all([
    app.identity(),
    readBranchRules(octokit, { owner, repo }, branch),
    readBranchProtection(octokit, { owner, repo }, branch),
  ])
  const layers: ProtectionLayer[] = layer ? [layer] : []
  // GitHub shows who may bypass a ruleset only to who may change it: this client reads that, and nothing else
  const rulesets = rules.length > 0 ? await app.client(installation) : undefined
  for (const { ruleset: id, ...one } of rules) {
    const bypass = rulesets && (await readRuleset(rulesets, { owner, repo }, id))?.bypass
    layers.push({ ...one, kind: 'ruleset', name: `#${id}`, bypass })
  }
  const known = { url, branch, layers, hidden, evaluated: [], namesakes: [] }
  return evaluateGate(known, { name: checkNameOf(branch), app: identity.id }).state === 'real'
}
