import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { message, part } from '../../message/message.ts'
import { serverAnswer } from '../model/api-refusal.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isUnset, textOf } from './support/scalars.ts'

const DEFINITION = 'apiextensions.k8s.io/CustomResourceDefinition'

/** Definitions of kinds are the platform's: neither a manifest nor a chart of a tenant replaces them. */
export const crdAdmission: Rule = {
  id: 'crd-admission',
  severity: 'critical',
  title: 'CustomResourceDefinition in tenant content',
  why: 'A CustomResourceDefinition is cluster-scoped. Replacing one can drop fields, validation or stored versions for all tenants. Its conversion webhook can read and change every object of the kind.',
  docs: 'Ask a fleet admin to install the CustomResourceDefinition. In a HelmRelease, leave out `install.crds` and `upgrade.crds`, or set them to `Skip` or `Create`.',
  kinds: [DEFINITION, HELM_RELEASE],
  *checkObject(subject, { index }) {
    if (subject.kind === HELM_RELEASE) yield* release(subject, index)
    else if (subject.node.tenant !== undefined) yield definition(subject, index)
    else yield* conversion(subject, index)
  },
}

function* release({ object, id, node }: Subject, index: FleetIndex): Iterable<Violation> {
  if (node.tenant === undefined || index.actsFor(node, object) === undefined) return
  for (const when of ['install', 'upgrade']) {
    const path: Path = ['spec', when, 'crds']
    const policy = at(object.root, path)
    const text = textOf(policy) ?? ''
    if (!policy || isUnset(policy) || text === 'Skip' || text === 'Create') continue
    yield {
      node,
      object,
      path,
      value: text,
      severity: 'high',
      message: message`${objectPart(id.kind, id.namespace, id.name)} replaces CustomResourceDefinitions, which are cluster-scoped: ${part('field', `spec.${when}.crds`)} is ${quoted('value', text)}. Allowed: Skip and Create. Flux would replace them with the rights of its service account.`,
      fix: message`Remove ${part('field', `spec.${when}.crds`)}, and ask a fleet admin to install the CustomResourceDefinitions.`,
      edit: { remove: true },
    }
  }
}

function definition({ object, id, node }: Subject, index: FleetIndex): Violation {
  const webhook = textOf(at(object.root, ['spec', 'conversion', 'strategy'])) === 'Webhook'
  return {
    node,
    object,
    path: webhook ? ['spec', 'conversion', 'strategy'] : ['kind'],
    value: webhook ? 'Webhook' : 'CustomResourceDefinition',
    message: message`${objectPart(id.kind, '', id.name)} defines a kind for the whole cluster${webhook ? ', with a conversion webhook that reads all its objects' : ''}. Allowed: CustomResourceDefinitions that the platform applies.${serverAnswer(index, node, object)}`,
    fix: message`Remove the object, or ask a fleet admin to add it to the fleet repository.`,
  }
}

/** What the platform defines is its own affair, but for objects of everybody that a tenant's Service would convert. */
function* conversion({ object, id, node }: Subject, index: FleetIndex): Iterable<Violation> {
  const places: Path[] = [
    ['spec', 'conversion', 'webhook', 'clientConfig', 'service', 'namespace'],
    ['spec', 'conversion', 'webhookClientConfig', 'service', 'namespace'],
  ]
  for (const path of places) {
    const namespace = stringAt(object.root, path)
    if (namespace === undefined || index.ownerOf(node.cluster, namespace) === undefined) continue
    yield {
      node,
      object,
      path,
      value: namespace,
      level: 'warning',
      message: message`${objectPart(id.kind, '', id.name)} makes a Service in the tenant's namespace ${quoted('object', namespace)} convert every object of its kind. Allowed: a Service of the platform.`,
      fix: message`Set spec.conversion.webhook.clientConfig.service to a Service in a platform namespace.`,
    }
  }
}
