import { EvaluateSession } from '../../src/evaluate/incremental/evaluate-session.ts'
import { combinationOf } from '../../src/fleet/graph/combination.ts'
import type { FleetInput, OpaqueSource, SourceContent } from '../../src/fleet/model/input.ts'
import { retainOf } from '../../src/fleet/model/retain.ts'
import type { Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'
import { treesOf } from '../attacks/attack-case.ts'
import { isNew } from '../attacks/expectation.ts'
import type { Repository } from '../attacks/worlds/index.ts'
import { edited, type Recipe, type RecipeBook } from './read-recipes.ts'

type Trees = ReadonlyMap<Repository, Tree>

/** Evaluates the rows of a document in one session, which keeps its fleet; without a row the fleet as it is. */
export function openRecipes({ world }: RecipeBook): (recipe?: Recipe) => string[] {
  const session = new EvaluateSession()
  const base = complete(session, treesOf(world), {})
  const before = session.build(base)
  const compared = { config: base.fleet.tree, retain: retainOf(before) }
  return recipe => {
    if (!recipe) return found(session.evaluateFleet(before, { combination: combinationOf(base) }).verdict)
    const head = complete(session, treesOf(edited(world, recipe.edits)), compared, base)
    const options = { combination: combinationOf(head), base: before }
    return found(session.evaluateFleet(session.build(head), options).verdict)
  }
}

/** Asks for sources as the program does, until nothing is missing; first for those that were asked for before. */
function complete(
  session: EvaluateSession,
  trees: Trees,
  compared: Pick<FleetInput, 'config' | 'retain'>,
  known?: FleetInput,
): FleetInput {
  const [[first, tree], ...others] = [...trees] as [[Repository, Tree], ...[Repository, Tree][]]
  const contentOf = ({ url, ref }: Pick<SourceContent, 'url' | 'ref'>): SourceContent | undefined => {
    const held = others.find(([one]) => normaliseUrl(one.url) === url && one.branch === (ref.branch ?? ref.name))
    return held && { url, ref, commit: '', tree: held[1] }
  }
  const sources = (known?.sources ?? []).flatMap(source => contentOf(source) ?? [])
  const opaque: OpaqueSource[] = []
  const fleet = { url: first.url, branch: first.branch, commit: '', tree }
  for (;;) {
    const input = { fleet, sources: [...sources], opaque: [...opaque], ...compared }
    const { wanted } = session.build(input)
    if (wanted.length === 0) return input
    for (const one of wanted) {
      const content = contentOf(one)
      if (content) sources.push(content)
      else opaque.push({ url: one.url, ref: one.ref, reason: `it is not part of ${first.name}` })
    }
  }
}

/** `level rule file:line` of what is new and of the approvals that are asked for, each once, sorted. */
function found({ violations, warnings, errors, requiredApprovals }: Verdict): string[] {
  const place = ({ file, line }: { readonly file: string; readonly line: number }) => `${file}:${line}`
  const level = (severity: string) => (severity === 'critical' ? 'critical' : 'violation')
  const lines = [
    ...violations.filter(isNew).map(one => `${level(one.severity)} ${one.rule} ${place(one.origin)}`),
    ...warnings.filter(isNew).map(one => `warning ${one.rule} ${place(one.origin)}`),
    // one thing that cannot be built is an error of each object that it hides: the first names it
    ...errors
      .filter(isNew)
      .slice(0, 1)
      .map(one => `error ${one.code} ${place(one.origin)}`),
    ...(errors.some(isNew) ? [] : requiredApprovals).map(one => `approval ${one.rule} ${one.path}`),
  ]
  return [...new Set(lines)].sort()
}
