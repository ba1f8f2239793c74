import { BailiwickError } from '../../errors.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import type { Tree } from '../../git/tree.ts'
import type { KubeObject } from '../../kube/object.ts'
import { idOf } from '../../kube/object.ts'
import { BuildBudget } from '../../kustomize/model/build-budget.ts'
import type { FleetNode, FleetRepository } from '../model/fleet.ts'
import { nodeKey } from '../model/node-key.ts'
import { recordReads } from '../rendering/record-reads.ts'
import { componentsOf, touchReachable } from '../rendering/touch-reachable.ts'
import type { Standing } from './standing-kustomizations.ts'

/** A Kustomization that a node renders. */
export interface RenderedKustomization {
  readonly node: FleetNode
  readonly object: KubeObject
}

/** Why no cluster reaches a Kustomization; `rendered`: the nodes that render it without one becoming of it. */
type WhyNotReached = (standing: Standing, rendered: readonly RenderedKustomization[]) => string

/** Answers for the own repository of a fleet; what is looked up is looked up once. */
export function whyNotReached({ url, tree }: FleetRepository, nodes: readonly FleetNode[]): WhyNotReached {
  const partial = lazy(() => {
    const budget = new BuildBudget()
    return nodes.filter(node => isPartial(node, url)).map(node => withFiles(tree, node, budget))
  })
  return (standing, rendered) => {
    const { file } = standing
    if (rendered[0]) return whyNotFollowed(rendered[0], nodes)
    if (standing.unreadable !== undefined) return `the file cannot be read: ${standing.unreadable}`
    const above = partial().find(({ reads }) => reads(file))
    if (above) return `Kustomization ${above.key}, which leads there, ${above.why}`
    return 'no cluster builds its file'
  }
}

/** Whether a node would render more of this repository than what is known of it. */
function isPartial({ source, error, holes = [] }: FleetNode, url: string): boolean {
  const isHere = source.url === url || source.unmatched?.why === 'other-address'
  return isHere && (error !== undefined || holes.length > 0 || source.opaque !== undefined)
}

/** A Kustomization that is rendered, and of which the graph made nothing. */
function whyNotFollowed({ node, object }: RenderedKustomization, nodes: readonly FleetNode[]): string {
  if (node.hub !== undefined) return `Kustomization ${node.key} applies it to ${node.cluster}, which has no known Flux`
  const key = nodeKey(node.cluster, idOf(object))
  if (nodes.some(one => one.key === key))
    return `Kustomization ${node.key} renders it, and so does another one with the same name`
  if (node.error) return `Kustomization ${node.key} renders it and has an error (${node.error.code})`
  return `Kustomization ${node.key} renders it in a namespace that is not its own, so Bailiwick does not evaluate it`
}

interface Broken {
  readonly key: string
  readonly why: string
  readonly reads: (file: string) => boolean
}

function withFiles(tree: Tree, node: FleetNode, budget: BuildBudget): Broken {
  const { key, error, source } = node
  const why = error ? `has an error (${error.code})` : (opaqueText(source) ?? 'is only partly evaluated')
  return { key, why, reads: reachableBy(tree, node, budget) }
}

/** Whether a build of the path of a node may read a file of `tree`; a directory without a kustomization file is read as a whole. */
export function reachableBy(
  tree: Tree,
  { path, kustomization }: Pick<FleetNode, 'path'> & Partial<Pick<FleetNode, 'kustomization'>>,
  budget = new BuildBudget(),
): (file: string) => boolean {
  const recorded = recordReads(tree)
  const directory = artifactPath(path)
  try {
    touchReachable(recorded.tree, directory, kustomization ? componentsOf(kustomization) : [], budget)
  } catch (caught) {
    if (!(caught instanceof BailiwickError)) throw caught
  }
  const paths = new Set(recorded.paths() ?? [directory])
  return file => [...prefixesOf(file)].some(prefix => paths.has(prefix)) || (paths.has('') && !file.includes('/'))
}

const opaqueText = ({ opaque, url }: FleetNode['source']) =>
  opaque === undefined ? undefined : `follows ${url}, which is not visible: ${opaque}`

/** A file, and the folders above it without the root. */
function* prefixesOf(file: string): Generator<string> {
  for (let path = file; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) yield path
}

function lazy<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined
  return () => {
    done ??= { value: work() }
    return done.value
  }
}
