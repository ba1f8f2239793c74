import { describe, expect, test } from 'vitest'
import { FleetIndex } from '../../../src/fleet/facts/fleet-index.ts'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import type { Tree } from '../../../src/git/tree.ts'
import { FLUX_KINDS } from '../../../src/kube/flux-kinds.ts'
import { RBAC_GROUP } from '../../../src/kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../../../src/kube/rbac/policy-rule.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { type OnboardPlan, planOnboarding } from '../../../src/tenants/onboard/plan.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import { auditFleet } from '../../../src/verdict/audit/audit-fleet.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { evaluationOf } from '../../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../../fleet/mini-fleet.ts'
import { acmeFleet } from './fleets.ts'

const URL = 'https://github.com/acme/fleet'
const OPS = ['ops-team', '--repo', 'https://github.com/acme/ops-team', '--namespace', 'ops', '--cluster', 'staging']
const plan = (args: readonly string[], tree: Tree = acmeFleet()) =>
  planOnboarding(parseOnboardArguments(args), tree, URL, 'main')
const withText = (tree: Tree, edits: Record<string, string>) => overlayTree(tree, new Map(Object.entries(edits)))
const applied = (tree: Tree, { files }: OnboardPlan) =>
  withText(tree, Object.fromEntries(files.map(({ path, content }) => [path, content])))

describe('the role of tenants', () => {
  const ROLE_FILE = 'tenants/base/tenant-role/cluster-roles.yaml'
  const paths = (made: OnboardPlan) => made.files.map(({ path }) => path)
  const other = OPS.map(arg => arg.replace('ops', 'web'))

  test('is written once, and not for a role of Kubernetes', () => {
    const first = plan(OPS)
    expect(paths(first)).toContain(ROLE_FILE)
    const second = plan(other, applied(acmeFleet(), first))
    expect(paths(second).filter(path => path.includes('tenant-role'))).toEqual([])
    expect(second.files.find(({ path }) => path.endsWith('web-team/rbac.yaml'))?.content).toContain(
      'kind: ClusterRole\n  name: bailiwick-tenant\n',
    )
    for (const role of ['cluster-admin', 'admin', 'edit']) {
      const made = plan([...OPS, '--role', role])
      expect(paths(made).filter(path => path.includes('tenant-role'))).toEqual([])
      expect(made.files.find(({ path }) => path.endsWith('rbac.yaml'))?.content).toContain(`name: ${role}\n`)
    }
  })

  test('stays as a platform team has changed it, wherever it is', () => {
    const first = applied(acmeFleet(), plan(OPS))
    const text = `${new TextDecoder().decode(first.read(ROLE_FILE))}# ours\n`
    const onProduction = other.map(arg => (arg === 'staging' ? 'production' : arg))
    const made = plan(onProduction, withText(first, { [ROLE_FILE]: text }))
    expect(paths(made)).not.toContain(ROLE_FILE)
    expect(made.files.find(({ path }) => path === 'tenants/production/kustomization.yaml')?.content).toContain(
      '  - ../base/tenant-role\n',
    )
    const list = 'infrastructure/kustomization.yaml'
    const read = (path: string) => new TextDecoder().decode(acmeFleet().read(path))
    const elsewhere = withText(acmeFleet(), {
      [list]: read(list).replace('resources:\n', 'resources:\n  - roles.yaml\n'),
      'infrastructure/roles.yaml': new TextDecoder().decode(first.read(ROLE_FILE)),
    })
    expect(paths(plan(OPS, elsewhere)).filter(path => path.includes('tenant-role'))).toEqual([])
  })

  test('a tenant cannot extend it', () => {
    const { files } = plan(OPS)
    const roles = files.find(({ path }) => path === ROLE_FILE)!.content
    const own = (labels: string) => `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: more, labels: {${labels}}}
rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]
`
    const found = (labels: string) => {
      const list = 'resources: [dev-team.yaml, ops-team.yaml, roles.yaml]\n'
      const fleet = { 'tenants/kustomization.yaml': list, 'tenants/roles.yaml': roles }
      const { verdict } = evaluationOf(miniFleet({ fleet, dev: withResource(own(labels)) }))
      return verdict.violations.map(({ rule }) => rule)
    }
    expect(found('bailiwick.dev/aggregate-to-tenant: "true"')).toContain('rbac-aggregation')
    expect(found('team: web')).not.toContain('rbac-aggregation')
  })

  test('holds what a tenant applies, extended by a label, and nothing above', () => {
    const files = {
      'tenants/base/tenant-role/operator.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: widgets, labels: {bailiwick.dev/aggregate-to-tenant: "true"}}
rules: [{apiGroups: [example.acme.dev], resources: [widgets], verbs: [create, patch]}]
`,
      'tenants/base/tenant-role/kustomization.yaml': 'resources: [cluster-roles.yaml, operator.yaml]\n',
    }
    const fleet = fleetAt(withText(applied(acmeFleet(), plan(OPS)), files), URL, 'main')
    const index = new FleetIndex(fleet)
    const user = userInfo(userOfAccount('ops', 'ops-team'))
    const may = (verb: string, resource: string, apiGroup = '', namespace = 'ops') => {
      const [kind = '', subresource] = resource.split('/')
      const request = { verb, apiGroup, resource: kind, ...(subresource ? { subresource } : {}), namespace, name: 'x' }
      return index.authorizer('staging').allows(user, request)
    }
    for (const { group, plural, kind } of FLUX_KINDS) {
      const isWritten = /(?:toolkit|extensions)\.fluxcd\.io$/.test(group) && kind !== 'ExternalArtifact'
      expect([kind, may('create', plural, group)]).toEqual([kind, isWritten])
      expect([kind, may('patch', `${plural}/status`, group)]).toEqual([kind, false])
    }
    for (const resource of ['deployments', 'statefulsets']) expect(may('patch', resource, 'apps')).toBe(true)
    for (const resource of ['configmaps', 'secrets', 'services']) expect(may('delete', resource)).toBe(true)
    expect(may('patch', 'widgets', 'example.acme.dev')).toBe(true)
    expect(may('patch', 'roles', RBAC_GROUP)).toBe(true)
    for (const verb of ['bind', 'escalate']) expect(may(verb, 'roles', RBAC_GROUP)).toBe(false)
    for (const resource of ['resourcequotas', 'limitranges', 'namespaces']) expect(may('patch', resource)).toBe(false)
    expect(may('impersonate', 'serviceaccounts')).toBe(false)
    expect(may('create', 'serviceaccounts/token')).toBe(false)
    expect(may('patch', 'configmaps', '', 'apps')).toBe(false)
    const { items } = auditFleet(fleet, ['staging'])[0]!
    const own = items.filter(({ message }) => message.includes('"ops"') && !message.includes('has no verification'))
    expect(own.map(({ check, state }) => [check, state])).toEqual([
      ['default-account', expect.stringMatching(/ok|unknown/)],
      ['status-writers', expect.stringMatching(/ok|unknown/)],
    ])
    const { verdict } = evaluateFleet(fleet, { revisionSet: '' })
    expect(verdict.violations.filter(({ object }) => /bailiwick-tenant|ops-team/.test(object?.name ?? ''))).toEqual([])
  })
})

test('apiVersions are those that the definitions of the fleet serve', () => {
  const file = 'clusters/staging/flux-system/gotk-components.yaml'
  const text = new TextDecoder().decode(acmeFleet().read(file))
  const served = (name: string, isServed = true) =>
    withText(acmeFleet(), {
      [file]: text
        .replaceAll('    name: v1\n', `    name: ${name}\n`)
        .replaceAll('served: true', `served: ${isServed}`),
    })
  const versionsIn = (tree: Tree) => {
    const made = plan([...OPS, '--path', './x'], tree)
    const texts = made.files.filter(({ path }) => /sync|ops-team-patch/.test(path)).map(({ content }) => content)
    return texts.flatMap(text => [...text.matchAll(/^apiVersion: .*\/(.*)$/gm)].map(([, version]) => version))
  }
  expect(versionsIn(acmeFleet())).toEqual(['v1', 'v1', 'v1'])
  expect(versionsIn(served('v1beta2'))).toEqual(['v1beta2', 'v1beta2', 'v1beta2'])
  // none that is known
  expect(versionsIn(served('v9'))).toEqual(['v1', 'v1', 'v1'])
  expect(versionsIn(served('v1beta2', false))).toEqual(['v1', 'v1', 'v1'])
})
