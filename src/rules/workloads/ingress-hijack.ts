import type { FleetIndex } from '../../facts/fleet-index.ts'
import type { Rendered } from '../../facts/object-table.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import type { Cluster } from '../../fleet/model/fleet.ts'
import type { Path } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { type HostClaim, HostClaims } from './support/host-claims.ts'
import { hostsAsked } from './support/hosts-asked.ts'
import { isGateway, routeKinds } from './support/route-hosts.ts'
import { type Snippet, snippetKinds, snippets } from './support/snippets.ts'

/** Tenants route their own hosts, and write no configuration of the proxy that everybody shares. */
export const ingressHijack: Rule = {
  id: 'ingress-hijack',
  severity: 'high',
  title: 'Foreign host or snippet in a route',
  why: "A snippet runs in the proxy that serves all tenants and can read its certificates and token. A route for another tenant's host, or for a wildcard over it, receives that tenant's traffic and cookies.",
  source: 'CVE-2021-25742, CVE-2023-5044, CVE-2025-1974',
  docs: 'Remove snippets (a violation). Use hosts that no other tenant and no platform route uses, without wildcards over them (a warning).',
  kinds: snippetKinds,
  *checkTenantObject(subject) {
    for (const one of snippets(subject)) yield snippet(subject, one)
  },
  checkCluster: (cluster, context) => overlaps(cluster, context),
}

function snippet({ object, id, node }: Subject, { path, value, what, level }: Snippet): Violation {
  return {
    node,
    object,
    path,
    value,
    message: message`${objectPart(id.kind, id.namespace, id.name)} changes the proxy's configuration with ${quoted('value', value)}: ${untyped(what)}. Allowed: settings that the proxy validates. The proxy's controller accepts it where snippets are enabled.`,
    fix: message`Remove ${quoted('value', value)}, or ask a fleet admin for a supported setting.`,
    ...(level ? { level } : {}),
  }
}

interface Claimed extends Rendered {
  readonly path: Path
  readonly claim: HostClaim
}

function* overlaps({ name }: Cluster, { index, before }: RuleContext): Iterable<Violation> {
  const known = before && new Set([...claimsOf(before, name)].map(keyOf))
  const claims = new HostClaims()
  const own: Claimed[] = []
  for (const one of claimsOf(index, name)) {
    const claimed = { ...one, claim: { ...one.claim, isOld: known?.has(keyOf(one)) ?? false } }
    claims.add(claimed.claim)
    if (claimed.node.tenant !== undefined) own.push(claimed)
  }
  for (const one of own) {
    const overlap = claims.overlap(one.claim)
    if (overlap) yield hostViolation(one, overlap)
  }
}

const keyOf = ({ claim }: Claimed) => `${claim.tenant ?? ''} ${claim.host}`

function* claimsOf(index: FleetIndex, cluster: string): Iterable<Claimed> {
  for (const kind of routeKinds) {
    for (const { node, object } of index.renderedAnywhere(cluster, kind)) {
      const tenant = index.actsFor(node, object)
      if (tenant === undefined && isGateway(kind)) continue
      for (const { path, host, catchesAll } of hostsAsked(index, cluster, kind, object, tenant))
        yield { node, object, path, claim: { host, tenant, isOld: false, ...(catchesAll ? { catchesAll } : {}) } }
    }
  }
}

const OVERLAP_TEXTS = {
  host: 'which another tenant or the platform also uses on this cluster',
  covers: 'which covers hosts of another tenant or the platform on this cluster',
  covered: 'which is below a wildcard of another tenant',
}

function hostViolation({ node, object, path, claim }: Claimed, overlap: keyof typeof OVERLAP_TEXTS): Violation {
  const { kind, namespace, name } = idOf(object)
  return {
    node,
    object,
    path,
    value: claim.host,
    level: 'warning',
    message: message`${objectPart(kind, namespace, name)} uses the host ${quoted('value', claim.host)}, ${untyped(OVERLAP_TEXTS[overlap])}. Allowed: a host of one tenant. The API server accepts it, and the proxy picks one of the routes.`,
    fix: message`Change the host to one that only this tenant uses.`,
  }
}
