import { identityPart, objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import type { OtherStart } from '../../fleet/model/cluster-root.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { kindsThat } from '../../flux/kinds.ts'
import { message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { elsewhereStarted, STARTING_KINDS } from './support/elsewhere-started.ts'

/** Kinds by which the Flux Operator is told what Flux is; a ResourceSet applies objects as an account and is no such kind. */
const KINDS = kindsThat(row => row.configuresFlux)

/** How Flux runs is the platform's to say, whatever namespace the object is in. */
export const fluxControlPlaneObject: Rule = {
  id: 'flux-control-plane-object',
  severity: 'critical',
  title: 'Flux control plane object in tenant content',
  why: 'The Flux Operator applies a FluxInstance with cluster-admin rights. A FluxInstance can disable the lockdown, patch the controllers or follow another repository. An input provider supplies values for the templates of others.',
  source: 'fluxcd.controlplane.io API of the Flux Operator',
  docs: 'Keep FluxInstance, FluxReport and ResourceSetInputProvider in the fleet repository. The sync path of a FluxInstance must be the folder of the cluster that it is applied to. No cluster may start from a folder that a tenant deploys from. A new cluster is a required approval of a fleet admin.',
  kinds: [...new Set([...KINDS, ...STARTING_KINDS])],
  *checkCluster(cluster, { index }) {
    const node = index.rootOf(cluster.name)
    for (const start of node ? (cluster.tenantStarts ?? []) : []) yield startOfTenant(node!, start)
  },
  *checkObject(subject, context) {
    if (subject.node.tenant === undefined) yield* elsewhereStarted(subject, context)
    else if (KINDS.includes(subject.kind)) yield violation(subject)
  },
}

function startOfTenant(node: FleetNode, { file, text: path }: OtherStart): Violation {
  const { repository } = node.kustomization.root.origin
  return {
    node,
    object: node.kustomization,
    path: ['spec'],
    origin: { repository, file, line: 0, column: 0 },
    value: `${file} ${path}`,
    message: message`${part('path', file)}: makes ${quoted('path', path)} the start of a cluster, in a folder that a tenant deploys from: the tenant would say what the platform of that cluster applies. Allowed is a folder of the platform.`,
    fix: message`Remove it, or have a fleet admin move what starts the cluster to a folder of the platform.`,
  }
}

const violation = ({ object, id, node }: Subject): Violation => ({
  node,
  object,
  path: ['kind'],
  value: id.kind,
  message: message`${objectPart(id.kind, id.namespace, id.name)} configures Flux itself, but ${identityPart(node.identity)} applies it for a tenant. Allowed: this kind in the fleet repository. The Flux Operator would act on it with its own rights.`,
  fix: message`Remove the object, or ask a fleet admin to add it to the fleet repository.`,
})
