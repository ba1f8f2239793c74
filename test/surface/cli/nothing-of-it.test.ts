import { describe } from 'vitest'
import { git, write } from './run-main.ts'
import { BAD, DEV, fleetFiles, GOOD, type Situation, TENANT, testAll, world } from './situation.ts'

const TENANTS = 'clusters/prod/tenants.yaml'

/** A feature branch of the tenant's repository, beside a fleet whose first commit already holds this instead of its tenants. */
function beside(edit: (tenants: string) => string, change: Record<string, string> = BAD): string {
  const { fleet, tenant } = world()
  write(fleet, { [TENANTS]: edit(fleetFiles()[TENANTS]!) })
  git(fleet, 'commit', '--quiet', '--amend', '--all', '-m', 'first')
  git(tenant, 'checkout', '--quiet', '-b', 'feature/x')
  write(tenant, change)
  git(tenant, 'add', '--all')
  git(tenant, 'commit', '--quiet', '-m', 'change')
  return tenant
}

const args = [...TENANT, '--base', 'main']
const UNREAD = (tenants: string) => `# read by nobody\nnote: !!binary aGk=\n---\n${tenants}`
const release = (account: string) => `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: { name: web, namespace: apps }
spec: { interval: 5m, serviceAccountName: ${account}, chart: { spec: { chart: ./deploy, sourceRef: { kind: GitRepository, name: dev-team } } } }
`
const withoutKustomization = (tenants: string) => tenants.replace(/---\n[^-]*kind: Kustomization[\s\S]*$/, '')

const situations: Record<string, Situation> = {
  'a file of the fleet that never could be read may say where it is deployed, and that does not stand': {
    given: () => beside(UNREAD),
    args,
    code: 1,
    says: ['yaml-ambiguous', TENANTS],
  },
  'neither where the change breaks no rule, for nothing of it was evaluated': {
    given: () => beside(UNREAD, { 'deploy/config.yaml': `${GOOD['deploy/config.yaml']}data: { a: b }\n` }),
    args,
    code: 1,
    says: ['yaml-ambiguous'],
  },
  'it stands where the last commit that could be read says where it is deployed': {
    given: () => {
      const tenant = beside(tenants => tenants, {
        'deploy/config.yaml': `${GOOD['deploy/config.yaml']}data: { a: b }\n`,
      })
      const fleet = `${tenant}/../fleet`
      write(fleet, { [TENANTS]: UNREAD(fleetFiles()[TENANTS]!) })
      git(fleet, 'commit', '--quiet', '--all', '-m', 'unread')
      return tenant
    },
    args,
    code: 0,
    says: ['Passed', '1 existing violation'],
  },
  'a source that no Kustomization reads deploys nothing': {
    given: () => beside(withoutKustomization),
    args,
    code: 2,
    says: [
      `GitRepository/apps/dev-team names ${DEV}, but no Kustomization or chart that is evaluated comes from there`,
    ],
  },
  'a source of the chart of a tenant is compared': {
    given: () => beside(tenants => `${withoutKustomization(tenants)}${release('dev-team')}`),
    args,
    code: 0,
    says: ['chart-content-change'],
  },
}

describe('a change of which nothing is evaluated', () => {
  testAll(situations)
})
