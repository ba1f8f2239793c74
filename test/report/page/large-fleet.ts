import type { FleetGraphNode, FleetPage, ListedFinding } from '../../../src/report/page/fleet-page.ts'
import { type PullRow, settledPulls } from '../../../src/report/page/fleet-pulls.ts'
import { FLEET } from '../samples.ts'

const SHA = 'a'.repeat(40)
const AT = '2026-11-23T10:00:00.000Z'

/** The page of a fleet with that many tenants on two clusters, and its pull requests; every name ends in `tail`. */
export function largeFleet(tenants: number, tail = '') {
  const names = Array.from({ length: tenants }, (_, at) => `team-${String(at).padStart(4, '0')}${tail}`)
  const clusters = ['production', 'staging']
  const origin = (name: string) => ({ repository: FLEET, file: `tenants/base/${name}/sync.yaml`, line: 7, column: 1 })
  const graph: FleetGraphNode[] = clusters.flatMap(cluster =>
    names.map(name => ({
      ...{ key: `${cluster}/${name}/${name}`, parent: null, cluster, namespace: name, name, tenant: name, objects: 9 },
      ...{ identity: `system:serviceaccount:${name}:${name}`, suspend: false, open: 1, failed: 0, namespaces: [name] },
      source: { id: `GitRepository/${name}/${name}`, url: `https://github.com/acme/${name}`, commit: SHA, notSeen: '' },
      declared: origin(name),
    })),
  )
  const findings: ListedFinding[] = names.flatMap(name =>
    (['open', 'accepted', 'waived'] as const).map(state => ({
      ...{ kind: 'violation', state, rule: 'namespace-confinement', severity: 'high', tenant: name, clusters },
      ...{
        object: `Deployment ${name}/${name}`,
        objects: 2,
        message: `Deployment ${name} lies elsewhere. `.repeat(9).slice(0, 501),
      },
      origin: origin(name),
      ...(state === 'waived' ? { waiver: { expires: '2026-12-31', approver: name, reason: `for ${name}` } } : {}),
    })),
  )
  const changer = (name: string) => ({
    ...{ kind: 'Kustomization', namespace: name, name, tenant: name, ownCluster: true, impersonated: true },
    ...{ repository: { url: `https://github.com/acme/${name}`, ref: 'main', path: './deploy' } },
    user: `system:serviceaccount:${name}:${name}`,
    rights: [{ subject: name, binding: name, role: name, clusterWide: true, madeBy: 'fleet', origin: origin(name) }],
  })
  const page = {
    ...{ kind: 'fleet', owner: 'acme', repo: 'fleet', repositoryId: 7, visibility: 'private', repository: FLEET },
    ...{ branch: 'main', commit: SHA, at: AT, result: 'fail', left: {}, trail: 'on', graph, findings },
    counts: { nodes: graph.length, objects: 9 * graph.length, violations: tenants, errors: 0 },
    clusters: clusters.map(name => ({ name, path: `clusters/${name}`, nodes: tenants })),
    tenants: names.map(name => ({
      name,
      clusters,
      namespaces: [name],
      identities: [`system:serviceaccount:${name}:x`],
    })),
    sources: names.map(name => ({ id: name, url: `https://github.com/acme/${name}`, commit: SHA, used: 2 })),
    notSeen: names.map(name => ({
      source: name,
      url: `https://github.com/acme/${name}`,
      reason: `no access to ${name}`,
    })),
    audit: clusters.map(cluster => ({
      ...{ cluster, path: '' },
      items: names.map((name, at) => ({
        ...{
          check: 'source-address',
          subject: name,
          state: at % 2 === 0 ? 'weak' : 'ok',
          message: `${name} is open. `,
        },
        ...{ why: 'Anyone can write there. '.repeat(4), fix: `Set the address of ${name}.`, origin: origin(name) },
      })),
    })),
    policies: names.map(name => ({
      ...{ cluster: 'staging', kind: 'ClusterPolicy', namespace: '', name, origin: origin(name), notEvaluated: [] },
      ...{ rules: [{ rule: name, passed: 1, denied: 1, warned: 1, audited: 1, notEvaluated: 1, why: name }] },
      exceptions: [{ name, origin: origin(name) }],
    })),
    access: {
      // what an overview works out at most of a fleet of any size
      namespaces: names.slice(0, 160).map(namespace => ({
        ...{ cluster: 'staging', namespace, tenant: namespace, others: [], unknown: [], left: 0 },
        changers: names.slice(0, 60).map(changer),
      })),
      left: Math.max(0, tenants - 160),
    },
    commits: { [FLEET]: SHA },
  } as unknown as FleetPage
  const rows: PullRow[] = names.map((repo, at) => ({
    ...{ owner: 'acme', repo, number: at + 1, title: `change ${repo}`, author: 'dora', base: 'main', isDraft: true },
    ...{ headSha: SHA, tenants: names.slice(0, 20), visibility: 'private' },
  }))
  const none = { owner: 'acme', repo: 'fleet', repositoryId: 7, rows: [] }
  return {
    page,
    pulls: settledPulls({ ...none, left: 0 }, rows, AT),
    names,
  }
}
