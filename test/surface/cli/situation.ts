import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git, repository, runWith, scratch, write } from './run-main.ts'

export const FLEET = 'https://github.com/acme/fleet'
export const DEV = 'https://github.com/acme/dev-team'

const source = (name: string, namespace: string, url: string, ref: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: ${name}, namespace: ${namespace} }
spec: { url: ${url}, interval: 1m, ref: { ${ref} } }
`
const kustomization = (name: string, namespace: string, path: string, more = '') => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: ${name}, namespace: ${namespace} }
spec: { path: ${path}, prune: true, interval: 1m, sourceRef: { kind: GitRepository, name: ${name} }${more} }
`

/** A fleet of one cluster that follows `ref` of its own address, with one tenant that follows `tenantRef`. */
export const fleetFiles = (ref = 'branch: main', tenantRef = 'branch: main') => ({
  'clusters/prod/flux-system/gotk-sync.yaml':
    source('flux-system', 'flux-system', FLEET, ref) + kustomization('flux-system', 'flux-system', './clusters/prod'),
  'clusters/prod/tenants.yaml': `apiVersion: v1
kind: Namespace
metadata: { name: apps, labels: { toolkit.fluxcd.io/tenant: dev-team } }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: dev-team, namespace: apps }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: dev-team, namespace: apps }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin }
subjects: [{ kind: ServiceAccount, name: dev-team, namespace: apps }]
---
${source('dev-team', 'apps', DEV, tenantRef)}${kustomization('dev-team', 'apps', './deploy', ', serviceAccountName: dev-team')}`,
})

export const GOOD = { 'deploy/config.yaml': configMap('apps') }
export const BAD = { 'deploy/config.yaml': configMap('flux-system') }

export function configMap(namespace: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: config, namespace: ${namespace} }\n`
}

/** Fleet and tenant side by side. */
export function world({ ref, tenantRef }: { ref?: string; tenantRef?: string } = {}) {
  const root = scratch()
  const fleet = repository(join(root, 'fleet'), fleetFiles(ref, tenantRef), `${FLEET}.git`)
  const tenant = repository(join(root, 'dev-team'), GOOD, DEV)
  return { root, fleet, tenant }
}

export const run = (cwd: string, args: readonly string[], env = {}) => runWith(env, cwd, 'check', ...args)

export interface Situation {
  /** Prepares the folders and gives the one to run in. */
  readonly given: () => string
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly code: 0 | 1 | 2
  /** What stands on stdout or stderr. */
  readonly says: readonly (string | RegExp)[]
}

/** The tenant's repository on a feature branch with a violation, beside a fleet that follows `main`. */
export function tenantOnBranch(change: Record<string, string> = BAD): string {
  const { tenant } = world()
  git(tenant, 'checkout', '--quiet', '-b', 'feature/x')
  write(tenant, change)
  git(tenant, 'commit', '--quiet', '-am', 'change')
  return tenant
}

export const TENANT = ['--fleet', '../fleet']
export const as = (branch: string, because: string) => `evaluated as branch ${branch} of ${DEV} (${because})`

/** The remote's refs as a clone has them, without a network. */
export function tracked(dir: string, branch: string, commit = 'main'): void {
  git(dir, 'update-ref', `refs/remotes/origin/${branch}`, commit)
}

/** A good cluster, and one on which the tenant lost its account. */
export function twoClusters(): string {
  const { fleet } = world()
  const files = Object.entries(fleetFiles()).map(([path, text]) => [
    path.replace('/prod/', '/staging/'),
    text.replace('./clusters/prod', './clusters/staging').replace(', serviceAccountName: dev-team', ''),
  ])
  return write(fleet, Object.fromEntries(files))
}

export function detached(dir: string): string {
  git(dir, 'checkout', '--quiet', '--detach')
  return dir
}

/** The fleet on a feature branch in which the tenant lost its account. */
export function fleetOnBranch(ref = 'branch: main', branch = 'main'): string {
  const { fleet } = world({ ref })
  if (branch !== 'main') git(fleet, 'branch', '--quiet', '-m', branch)
  git(fleet, 'checkout', '--quiet', '-b', 'feature/x')
  const [path, text] = Object.entries(fleetFiles(ref))[1]!
  write(fleet, { [path]: text.replace(', serviceAccountName: dev-team', '') })
  git(fleet, 'commit', '--quiet', '-am', 'change')
  return fleet
}

/** One test for each. */
export function testAll(situations: Record<string, Situation>): void {
  test.each(Object.entries(situations))('%s', async (_, { given, args = [], env = {}, code, says }) => {
    const ran = await run(given(), args, env)
    for (const text of says) {
      if (typeof text === 'string') expect(ran.stdout + ran.stderr).toContain(text)
      else expect(ran.stdout + ran.stderr).toMatch(text)
    }
    expect(ran.code).toBe(code)
  })
}
