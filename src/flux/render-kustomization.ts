import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { isAbsent } from '../kube/edit-node.ts'
import { at, canonical, type MapNode, type Node } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { STRICT, type Tolerance } from '../kustomize/model/tolerance.ts'
import { refuseLink } from '../kustomize/paths/refuse-link.ts'
import { buildFrom } from '../kustomize/pipeline/build.ts'
import { KustomizationLevel } from '../kustomize/pipeline/level.ts'
import type { FindRemote } from '../kustomize/pipeline/mounted-tree.ts'
import { codeWord, message, part } from '../message/message.ts'
import type { Artifact } from './artifact.ts'
import { artifactPath } from './artifact-path.ts'
import { normalise } from './normalise/normalise.ts'
import { type OpenedValues, openSealed } from './open-sealed.ts'
import { overrideMetadata } from './override-metadata.ts'
import { packTree } from './pack-tree.ts'
import { readObjects } from './read-objects.ts'
import { RenderBudget } from './render-budget.ts'
import { fluxOverlay } from './root/flux-overlay.ts'
import { type PostBuildFacts, postBuild } from './substitute/post-build.ts'

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

function directoryOf(tree: Tree, root: MapNode, start = ''): string {
  const node = at(root, ['spec', 'path'])
  const path = text(node, 'spec.path') ?? ''
  const directory = [start, artifactPath(path)].filter(Boolean).join('/')
  if (tree.entry(directory)?.type === 'directory') return directory
  const parts = directory.split('/')
  for (const depth of parts.keys()) {
    refuseLink(tree, parts.slice(0, depth + 1).join('/'), node?.origin ?? root.origin)
  }
  throw new BailiwickError(
    'path-not-found',
    message`${codeWord('spec.path')}: the source has no directory ${part('path', path, JSON.stringify(path))}`,
    {
      identity: `spec.path ${JSON.stringify(path)} is no directory of the source`,
      origin: node?.origin ?? root.origin,
      fix: message`Correct ${codeWord('spec.path')}, or remove the pattern that ignores the directory.`,
      // what the rule forbids is no accident, whether something lies there or not
      ...(path.split(/[/\\]/).includes('..') ? { rule: 'kustomize-path-escape' } : {}),
    },
  )
}

function text(node: Node | undefined, field: string): string | undefined {
  if (isAbsent(node)) return undefined
  if (node.type === 'scalar' && typeof node.value === 'string') return node.value
  throw new BailiwickError('flux-invalid', `${field}: not a string`, { origin: node.origin })
}
