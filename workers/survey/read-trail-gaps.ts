import { listBranchCommits } from '../../src/github/contents/branch-commits.ts'
import { readBranchProtection } from '../../src/github/protection/protection.ts'
import { readBranchRules, readRuleset } from '../../src/github/protection/rulesets.ts'
import type { ProtectionLayer } from '../../src/protection/protected-branch.ts'
import { trailGaps } from '../../src/protection/trail-gaps.ts'
import type { TrailFacts } from '../../src/report/first-report/facts.ts'
import { foreignCommits } from '../../src/trail/foreign-commits.ts'
import { TRAIL_BRANCH } from '../../src/trail/trail-files.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { GateDesk } from './read-gates.ts'

/** What GitHub says about the branch of a fleet's trail: its protection, and who wrote its last hundred commits. */
export async function readTrailGaps(
  { reader, rulesets, app }: Pick<GateDesk, 'reader' | 'rulesets' | 'app'>,
  { owner, name: repo }: ReadableRepository,
): Promise<TrailFacts> {
  const place = { owner, repo }
  const commits = await listBranchCommits(reader, place, TRAIL_BRANCH)
  if (commits === undefined) return { branch: TRAIL_BRANCH, gaps: undefined }
  const { layer, hidden } = await readBranchProtection(reader, place, TRAIL_BRANCH)
  const layers: ProtectionLayer[] = layer ? [layer] : []
  for (const { ruleset: id, ...rules } of await readBranchRules(reader, place, TRAIL_BRANCH)) {
    const ruleset = await readRuleset(rulesets, place, id)
    layers.push({ ...rules, kind: 'ruleset', name: ruleset?.name ?? `#${id}`, bypass: ruleset?.bypass })
  }
  const foreign = foreignCommits(commits, app.slug).map(({ sha }) => sha)
  return { branch: TRAIL_BRANCH, gaps: trailGaps({ layers, hidden, foreign }, app.id) }
}
