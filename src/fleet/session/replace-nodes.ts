import { BailiwickError } from '../../errors.ts'
import { packTree } from '../../flux/pack-tree.ts'
import { RenderBudget } from '../../flux/render-budget.ts'
import type { Tree } from '../../git/tree.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/url.ts'
import { FLEET_FILE } from '../config/fleet-config.ts'
import { digestOfTexts } from '../digest.ts'
import type { FleetNode } from '../fleet.ts'
import type { FleetInput, SourceContent } from '../input.ts'
import { objectTexts } from '../object-texts.ts'
import { refKey } from '../ref.ts'
import { sameDeep } from '../same-deep.ts'
import { FOLLOWED } from '../source-index.ts'
import { type FleetState, sourceId } from './fleet-state.ts'
import { recordOf, renderAgain } from './render-memo.ts'
import type { Work } from './work.ts'

/**
 * The state of `input` where it differs from `before` only in what tenants' nodes render, and nothing of that is more
 * than an object for the graph: then these nodes are put in the place of the old ones. Undefined where that is not certain;
 * whoever asks walks the whole fleet then.
 */
export function replaceNodes(before: FleetState, input: FleetInput, work: Work): FleetState | undefined {
  const changed = changedSources(before.input, input)
  if (!changed) return undefined
  if (changed.length === 0) return { ...before, input }
  const { nodes } = before.fleet
  const replaced = new Map<number, FleetNode>()
  const rendered = new Map<string, readonly KubeObject[]>()
  for (const { source } of changed) {
    const id = `${normaliseUrl(source.url)} ${refKey(source.ref)}`
    for (const key of before.shape.readers.get(id) ?? []) {
      const position = before.shape.positions.get(key)!
      const node = nodes[position]!
      const after = sourceId(node.source) === id ? replacement(before, node, source, work) : undefined
      if (!after) return undefined
      replaced.set(position, after)
      rendered.set(key, after.objects)
    }
  }
  const trees = new Map(changed.map(({ was, source }) => [was.tree, source.tree]))
  return {
    input,
    fleet: {
      ...before.fleet,
      nodes: nodes.map((node, index) => replaced.get(index) ?? node),
      repositories: before.fleet.repositories.map((one, index) => {
        const tree = index === 0 ? undefined : trees.get(one.tree)
        return tree ? { ...one, tree } : one
      }),
    },
    rendered: rendered.size === 0 ? before.rendered : new Map([...before.rendered, ...rendered]),
    shape: before.shape,
  }
}

interface Changed {
  readonly source: SourceContent
  readonly was: SourceContent
}

/** The sources that have another tree or commit; undefined where the inputs differ in more than that. */
function changedSources(before: FleetInput, input: FleetInput): Changed[] | undefined {
  const { url, branch, commit, tree } = input.fleet
  const own = before.fleet
  if (own.url !== url || own.branch !== branch || own.commit !== commit || own.tree !== tree) return undefined
  if (fileOf(before) !== fileOf(input)) return undefined
  if (!sameDeep(before.disabledRules ?? [], input.disabledRules ?? [])) return undefined
  if (!sameDeep(before.opaque, input.opaque) || before.sources.length !== input.sources.length) return undefined
  const changed: Changed[] = []
  for (const [index, source] of input.sources.entries()) {
    const was = before.sources[index]!
    if (was.url !== source.url || (was.ref !== source.ref && refKey(was.ref) !== refKey(source.ref))) return undefined
    if (was.tree === source.tree && was.commit === source.commit) continue
    // a file of ours in it is about more than what it renders, and a fleet in it makes that file count for nothing
    if (says(was.tree) !== says(source.tree)) return undefined
    changed.push({ source, was })
  }
  return changed
}

/** What the fleet's own file is read from. */
const fileOf = ({ config, fleet }: FleetInput): string => (config ?? fleet.tree).entry(FLEET_FILE)?.id ?? ''

const says = (tree: Tree): string => `${tree.entry('.github')?.id ?? ''} ${tree.entry('clusters')?.type ?? ''}`

/** The node as it is with another tree of its source; undefined where it may be more than its objects that change. */
function replacement(
  before: FleetState,
  node: FleetNode,
  { tree, commit }: SourceContent,
  work: Work,
): FleetNode | undefined {
  const { tenant, source, error, objects } = node
  const record = recordOf(objects)
  if (tenant === undefined || error || source.opaque !== undefined || source.includes || !record) return undefined
  if (node.parent === undefined || record.artifact.repository !== source.url || node.digest === '') return undefined
  if (record.artifact.composed) return undefined
  const budget = budgetBeside(before, node)
  if (!budget) return undefined
  try {
    const artifact = { ...record.artifact, tree }
    const findSource = (kind: string, name: string) => record.values.get(`${kind}/${name}`)
    const facts = { findSource, strict: record.strict, budget }
    const again = renderAgain(objects, artifact, node.kustomization, facts)
    if (!again.spared) work.rendered++
    if (!staysPut(before, node, again.objects)) return undefined
    const digest = again.objects === objects ? node.digest : digestOfTexts(objectTexts(again.objects))
    return { ...node, source: { ...source, commit }, objects: again.objects, digest }
  } catch (caught) {
    if (caught instanceof BailiwickError) return undefined
    throw caught
  }
}

/** What the other nodes of the tenant leave over; undefined where one of them may not have been rendered as a whole. */
function budgetBeside({ fleet, shape }: FleetState, node: FleetNode): RenderBudget | undefined {
  const budget = new RenderBudget()
  for (const key of shape.tenants.get(`${node.cluster}\0${node.tenant}`) ?? []) {
    const other = fleet.nodes[shape.positions.get(key)!]!
    if (other.key === node.key) continue
    // what composing a source took is not known here
    if (other.error || other.source.includes) return undefined
    if (other.source.opaque !== undefined) continue
    const record = recordOf(other.objects)
    if (!record || record.artifact.composed) return undefined
    packTree(record.artifact.tree, record.artifact.ignore, budget.pack)
    if (!budget.takeAll(record.cost)) return undefined
  }
  return budget
}

/** Whether all that the graph takes note of in what a tenant's node renders is as it was. */
function staysPut({ shape }: FleetState, { cluster, objects }: FleetNode, after: readonly KubeObject[]): boolean {
  if (after === objects) return true
  const noted = (all: readonly KubeObject[]) => all.flatMap(object => noteOf(object, cluster, shape.needs) ?? [])
  const [old, young] = [noted(objects), noted(after)]
  return old.length === young.length && old.every((note, index) => note === young[index])
}

/** What the graph takes note of: the object itself, or what it is called. */
function noteOf(object: KubeObject, cluster: string, needs: ReadonlySet<string>): KubeObject | string | undefined {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const group = groupOf(apiVersion)
  if (group === 'source.toolkit.fluxcd.io') return FOLLOWED.has(kind) ? object : `${kind}/${namespace}/${name}`
  if (group === '') {
    if (kind === 'Namespace') return object
    if (kind === 'ConfigMap' || kind === 'Secret') {
      return needs.has(`${cluster}\0${kind}/${namespace}/${name}`) ? object : undefined
    }
    return undefined
  }
  return group === 'kustomize.toolkit.fluxcd.io' || group === 'capsule.clastix.io' ? object : undefined
}
