import { hash } from 'node:crypto'
import type { BailiwickError, ErrorCode } from '../base/errors.ts'
import { fixOf, sayingOf, typedMessage, type Worded } from '../base/message.ts'
import { oncePer } from '../base/once-per.ts'
import { kindOf } from '../fleet/facts/object-table.ts'
import { isSetNode } from '../fleet/graph/open-resource-sets.ts'
import type { Fleet, FleetNode, Lockdown } from '../fleet/model/fleet.ts'
import { isFatal } from '../flux/render-with-holes.ts'
import { HELM_RELEASE } from '../kube/flux-kinds.ts'
import type { Hole } from '../kube/object.ts'
import type { Evaluated, EvaluatedNode, Evaluation, NodeFailure } from '../rules/model/finding.ts'
import { sumOf } from './diff/changes.ts'
import { failureOf } from './findings.ts'

export const NOTHING_EVALUATED: Evaluated = {
  clusters: 0,
  tenants: 0,
  kustomizations: { reached: 0, present: 0 },
  objects: 0,
  releases: 0,
  holes: 0,
}

/** How much of a fleet was evaluated. */
export function evaluatedOf(fleet: Fleet): Evaluated {
  const { clusters, tenants, nodes, notReached } = fleet
  const causes = new Set<string>()
  for (const node of nodes) {
    if (!node.error && !node.holes) continue
    for (const { error } of leftOutOf(node)) {
      const { code, message, origin = node.kustomization.root.origin } = error
      causes.add(failureOf(node, { code, message, fix: '' }, origin).fingerprint)
    }
  }
  return {
    clusters: clusters.length,
    tenants: tenants.length,
    kustomizations: { reached: count(nodes.filter(isVisible)), present: count(nodes) + notReached.length },
    objects: nodes.reduce((sum, { objects }) => sum + objects.length, 0),
    releases: nodes.reduce((sum, node) => sum + releasesIn(node.objects), 0),
    holes: causes.size,
  }
}

/** The part of it that some nodes are, for readers who are shown these only: what else there is, is not counted to them. */
export function evaluatedIn(nodes: readonly EvaluatedNode[], errors: readonly NodeFailure[]): Evaluated {
  const tenants = new Set(nodes.flatMap(({ tenant }) => (tenant === null ? [] : [tenant])))
  return {
    clusters: new Set(nodes.map(({ cluster }) => cluster)).size,
    tenants: tenants.size,
    kustomizations: { reached: count(nodes.filter(isVisible)), present: count(nodes) },
    objects: nodes.reduce((sum, { objects }) => sum + objects.length, 0),
    releases: nodes.reduce((sum, { releases = 0 }) => sum + releases, 0),
    holes: new Set(errors.filter(({ hides }) => hides).map(({ fingerprint }) => fingerprint)).size,
  }
}

/** The sum over several fleets. */
export function sumEvaluated(all: readonly Evaluated[]): Evaluated {
  const { kustomizations, ...none } = NOTHING_EVALUATED
  const both = all.map(one => one.kustomizations)
  return { ...sumOf(none, all), kustomizations: sumOf(kustomizations, both) }
}

/** HelmReleases, whose own objects are not rendered. */
export const releasesIn = oncePer(
  (objects: FleetNode['objects']) => objects.filter(one => kindOf(one) === HELM_RELEASE).length,
)

/** What ResourceSets make is evaluated, and no Kustomization. */
const count = (nodes: readonly Pick<EvaluatedNode, 'name'>[]) => nodes.filter(node => !isSetNode(node)).length

/** A Kustomization whose source cannot be read is there, and nothing of it is evaluated. */
const isVisible = ({ source }: { readonly source: { readonly opaque?: string | null } }) =>
  (source.opaque ?? null) === null

/** What keeps something of a node from being evaluated, and what it so hides. */
export interface LeftOut {
  readonly error: BailiwickError
  /** Digest of all that it hides. */
  readonly hides: string
  /** Flux refuses it too: nothing of the node is applied. */
  readonly isFatal: boolean
  /** The address, where what is missing lies in no repository. */
  readonly remote?: string
  readonly follows?: true
}

/** The holes of a node, and the error for which nothing of it could be built. */
export function leftOutOf(node: Pick<FleetNode, 'error' | 'holes' | 'inputs'>): LeftOut[] {
  const { error, holes = [] } = node
  const parts = holes.map(hole => partOf(hole))
  // a hole that Flux refuses is the node's error, too
  if (!error || parts.some(part => isSame(part.error, error))) return parts
  return [...parts, { error, hides: node.inputs ?? '', isFatal: isFatal(error) }]
}

/** Whether something of a node was built, so that findings about it say what is there. */
export function isBuilt({ digest, objects, holes }: Pick<FleetNode, 'digest' | 'objects' | 'holes'>): boolean {
  return digest !== '' || objects.length > 0 || (holes?.length ?? 0) > 0
}

function partOf({ error, fatal, hides, remote, follows }: Hole): LeftOut {
  return { error, hides, isFatal: fatal, ...(remote === undefined ? {} : { remote }), ...(follows ? { follows } : {}) }
}

function isSame(a: BailiwickError, b: BailiwickError): boolean {
  const textOf = ({ code, message, origin }: BailiwickError) => JSON.stringify([code, message, origin ?? null])
  return a === b || textOf(a) === textOf(b)
}

/** A remote file of the platform that Flux fetches: it is listed as not visible, and a new one needs an approval. */
export function isNotVisible(
  { tenant }: FleetNode,
  { remote, isFatal }: Pick<LeftOut, 'remote' | 'isFatal'>,
  lockdown: Lockdown | undefined,
): boolean {
  return remote !== undefined && tenant === undefined && !isFatal && lockdown?.noRemoteBases !== true
}

/** The evaluation of a fleet that could not be built: one error for everything, and nothing to apply. */
export function undecided(reason: Worded & { readonly code: ErrorCode }): Evaluation {
  const fingerprint = hash('sha256', JSON.stringify(['undecided', reason.code, reason.message]))
  return {
    verdict: {
      result: 'error',
      summary: `could not be evaluated: ${reason.message}`,
      clusters: [],
      tenants: [],
      violations: [],
      warnings: [],
      errors: [
        {
          code: reason.code,
          state: 'new',
          ...sayingOf(typedMessage(reason), fixOf(reason)),
          origin: { repository: '', file: '', line: 1, column: 1 },
          cluster: '',
          tenant: '',
          node: '',
          fingerprint,
        },
      ],
      notSeen: [],
      notReached: [],
      notEvaluated: [],
      requiredApprovals: [],
      evaluated: NOTHING_EVALUATED,
      revisionSet: fingerprint,
    },
    nodes: [],
  }
}
