import { BailiwickError } from '../base/errors.ts'
import { codeWord, message, part } from '../base/message.ts'
import { probably } from '../base/name-list.ts'
import type { Tree } from '../git/tree.ts'
import {
  at,
  canonical,
  type Field,
  isAbsent,
  type MapNode,
  type Node,
  type ScalarNode,
  type ScalarValue,
  withoutField,
} from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { isSealedValue, sealedId, sealOf } from '../kube/sops.ts'
import { BuildBudget, type BuildCost, difference } from '../kustomize/build-budget.ts'
import { STRICT, type Tolerance } from '../kustomize/entry.ts'
import { refuseLink } from '../kustomize/paths.ts'
import { buildFrom } from '../kustomize/pipeline/build.ts'
import type { FindRemote } from '../kustomize/pipeline/build-files.ts'
import { KustomizationLevel } from '../kustomize/pipeline/lenient-transform.ts'
import { throughText } from '../kustomize/resource/round-trip.ts'
import { type Artifact, artifactPath, packTree } from './artifact.ts'
import { normalise, overrideMetadata, readObjects } from './built-objects.ts'
import { fluxOverlay } from './flux-overlay.ts'
import { PackBudget } from './source-ignore.ts'
import { type PostBuildFacts, postBuild } from './substitute/post-build.ts'
import { type Spent, SubstitutionBudget } from './substitute/variables.ts'

/** How kustomize names itself where Flux has built it in. */
const BUILDER = 'kustomize-(devel)'

/** What rendering depends on beside the artifact and the Kustomization. */
export interface RenderFacts extends PostBuildFacts {
  /** What is left for this Kustomization and others; without it, it has one of its own. */
  readonly budget?: RenderBudget
  /** Whether parts that fail are taken out. */
  readonly tolerance?: Tolerance
  /** Finds the content of repositories at a commit that the build names; without it none is at hand. */
  readonly remotes?: FindRemote | undefined
  /** What is known of values that SOPS encrypted; without it, encrypted objects stay as they are. */
  readonly opened?: OpenedValues | undefined
}

/**
 * The objects that kustomize-controller would apply for a Flux Kustomization: the artifact packed,
 * `spec.path` looked up in it, a kustomization.yaml read or generated, what the spec says put on top, what is known of
 * encrypted values put in, variables substituted, the result normalised. Throws `path-not-found`, `flux-unsupported`, `flux-invalid`, `flux-missing-variable` and what a build throws.
 */
export function renderKustomization(
  artifact: Artifact,
  kustomization: KubeObject,
  { budget = new RenderBudget(), tolerance = STRICT, remotes, opened, ...cluster }: RenderFacts = {},
): readonly KubeObject[] {
  const { root } = kustomization
  const tree = packTree(artifact.tree, artifact.ignore, budget.pack, artifact.root)
  const directory = directoryOf(tree, root, artifact.root)
  const level = new KustomizationLevel()
  const overlay = tolerance.within(level, () =>
    fluxOverlay(tree, artifact.repository, directory, root, budget.build, tolerance),
  )
  const decrypts = !isAbsent(at(root, ['spec', 'decryption']))
  const options = { builder: BUILDER, budget: budget.build, decrypts, tolerance, remotes, level }
  const built = buildFrom(tree, artifact.repository, overlay, options)
  const decrypted = decrypts ? openSealed(built, opened) : built
  const substituted = postBuild(decrypted, root, cluster, budget.substitution, tolerance)
  const read = eachAlone(substituted, readObjects, tolerance)
  const normalised = eachAlone(read, normalise, tolerance)
  const metadata = at(root, ['spec', 'commonMetadata'])
  const hides = () => (metadata ? canonical(metadata) : '')
  return tolerance.attempt({ effect: 'different', hides }, () => overrideMetadata(normalised, root)) ?? normalised
}

type Objects = readonly KubeObject[]

/** What `step` makes of objects, without those that it does not take. */
function eachAlone(objects: Objects, step: (objects: Objects) => Objects, tolerance: Tolerance): Objects {
  if (!tolerance.isLenient) return step(objects)
  return objects.flatMap(object => {
    const hides = () => canonical(object.root)
    return tolerance.attempt({ effect: 'missing', hides }, () => step([object])) ?? []
  })
}

/** The directory that is there, where one part of a path has probably a typo. */
function meantDirectory(tree: Tree, parts: readonly string[]): string | undefined {
  const isThere = (path: readonly string[]) => tree.entry(path.join('/'))?.type === 'directory'
  const depth = parts.findIndex((_, index) => !isThere(parts.slice(0, index + 1)))
  const names = tree.list(parts.slice(0, depth).join('/')).map(({ name }) => name)
  const meant = parts.with(depth, probably(parts[depth]!, names) ?? '')
  return meant[depth] !== '' && isThere(meant) ? `./${meant.join('/')}` : undefined
}

function directoryOf(tree: Tree, root: MapNode, start = ''): string {
  const node = at(root, ['spec', 'path'])
  const path = text(node, 'spec.path') ?? ''
  const directory = [start, artifactPath(path)].filter(Boolean).join('/')
  if (tree.entry(directory)?.type === 'directory') return directory
  const parts = directory.split('/')
  for (const depth of parts.keys()) {
    refuseLink(tree, parts.slice(0, depth + 1).join('/'), node?.origin ?? root.origin)
  }
  const meant = start === '' ? meantDirectory(tree, parts) : undefined
  throw new BailiwickError(
    'path-not-found',
    message`${codeWord('spec.path')}: the source has no directory ${part('path', path, JSON.stringify(path))}`,
    {
      identity: `spec.path ${JSON.stringify(path)} is no directory of the source`,
      origin: node?.origin ?? root.origin,
      fix:
        meant === undefined
          ? message`Correct ${codeWord('spec.path')}, or remove the pattern that ignores the directory.`
          : message`Did you mean ${part('path', meant, JSON.stringify(meant))}?`,
      // a `..` breaks the rule even if the path does not exist
      ...(path.split(/[/\\]/).includes('..') ? { rule: 'kustomize-path-escape' } : {}),
    },
  )
}

function text(node: Node | undefined, field: string): string | undefined {
  if (isAbsent(node)) return undefined
  if (node.type === 'scalar' && typeof node.value === 'string') return node.value
  throw new BailiwickError('flux-invalid', `${field}: not a string`, { origin: node.origin })
}

/** Encrypted values in clear: by the text of what SOPS wrote beside them, then by their place and what is encrypted. Secret. */
export type OpenedValues = ReadonlyMap<string, ReadonlyMap<string, ScalarValue>>

/**
 * The objects of a build as kustomize-controller decrypts them before it substitutes variables: what `opened` says all
 * values of is in clear, where each value keeps its origin. One that is still encrypted is noted as such.
 */
export function openSealed(objects: readonly KubeObject[], opened: OpenedValues | undefined): readonly KubeObject[] {
  if (!objects.some(sealOf)) return objects
  return objects.map(object => {
    const block = sealOf(object)
    if (!block) return object
    const values = opened?.get(canonical(block))
    const root = values && inClear(withoutField(object.root, 'sops'), values, [])
    return root?.type === 'map' ? { ...object, root: throughText(root) } : { ...object, sealed: object.root }
  })
}

type Values = ReadonlyMap<string, ScalarValue>

/** Undefined: it holds a value that is not known. */
function inClear(node: Node, values: Values, path: readonly string[]): Node | undefined {
  if (node.type === 'scalar') return scalar(node, values, path)
  if (node.type === 'map') return map(node, values, path)
  const items: Node[] = []
  for (const item of node.items) {
    const value = inClear(item, values, path)
    if (!value) return undefined
    items.push(value)
  }
  return items.every((item, index) => item === node.items[index]) ? node : { ...node, items }
}

function map(node: MapNode, values: Values, path: readonly string[]): MapNode | undefined {
  const fields = new Map<string, Field>()
  let isChanged = false
  for (const [name, field] of node.fields) {
    const value = inClear(field.value, values, [...path, name])
    if (!value) return undefined
    isChanged ||= value !== field.value
    fields.set(name, value === field.value ? field : { ...field, value })
  }
  return isChanged ? { ...node, fields } : node
}

function scalar(node: ScalarNode, values: Values, path: readonly string[]): Node | undefined {
  if (typeof node.value !== 'string' || !isSealedValue(node.value)) return node
  const value = values.get(sealedId(path, node.value))
  if (value === undefined) return undefined
  const { origin } = node
  return { type: 'scalar', value, origin, ...(typeof value === 'string' ? { quoted: true } : {}) }
}

/** What renderings have used up, without packing, which is charged once in PackBudget. */
export interface RenderCost {
  readonly build: BuildCost
  readonly substitution: Readonly<Record<Spent, number>>
}

/**
 * The platform's own Kustomizations may hold what thousands of tenants are made of, and the limits are not meant for
 * their authors: a tenant has the usual ones for all of theirs together.
 */
export const PLATFORM_SCALE = 10

/** What rendering may use up: of one Kustomization, or of all that share it (those of a tenant on a cluster). */
export class RenderBudget {
  readonly pack: PackBudget
  readonly build: BuildBudget
  readonly substitution: SubstitutionBudget

  /** `scale`: how many times the usual limits. */
  constructor(scale = 1) {
    this.pack = new PackBudget(scale)
    this.build = new BuildBudget(scale)
    this.substitution = new SubstitutionBudget(scale)
  }

  /** What was used up so far. */
  spent(): RenderCost {
    return { build: this.build.allowance.spent(), substitution: this.substitution.allowance.spent() }
  }

  /** Takes what a rendering cost that need not be done again; false, and nothing taken, where that is more than is left. */
  takeAll({ build, substitution }: RenderCost): boolean {
    const before = this.build.allowance.spent()
    if (!this.build.allowance.takeAll(build)) return false
    if (this.substitution.allowance.takeAll(substitution)) return true
    this.build.allowance.takeAll(difference(this.build.allowance.spent(), before))
    return false
  }
}

/** What was used up since `before`. */
export function costSince(budget: RenderBudget, before: RenderCost): RenderCost {
  const { build, substitution } = budget.spent()
  return { build: difference(before.build, build), substitution: difference(before.substitution, substitution) }
}
