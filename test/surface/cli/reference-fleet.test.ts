import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run, scratch, write } from './run-main.ts'

const shared = join(import.meta.dirname, '../../../../shared/fleets/flux2-multi-tenancy')
const url = 'https://github.com/fluxcd/flux2-multi-tenancy'

interface Case {
  readonly files: (read: (path: string) => string) => Record<string, string>
  /** `file:line` that the violation must point at. */
  readonly at: string
  /** The rule that must speak; default the key. */
  readonly rule?: string
}

const added = (manifest: string) => (read: (path: string) => string) => ({
  'dev-team/base/added.yaml': manifest,
  'dev-team/base/kustomization.yaml': read('dev-team/base/kustomization.yaml').replace(
    'resources:\n',
    'resources:\n  - added.yaml\n',
  ),
})

/** One bad change each to what fluxcd publishes. */
const cases: Record<string, Case> = {
  'sa-required': {
    files: read => ({
      'fleet/tenants/base/dev-team/sync.yaml': read('fleet/tenants/base/dev-team/sync.yaml').replace(
        '  serviceAccountName: dev-team\n',
        '',
      ),
    }),
    at: 'tenants/base/dev-team/sync.yaml:17',
  },
  'cross-namespace-ref': {
    files: read => ({
      'fleet/tenants/base/dev-team/sync.yaml': read('fleet/tenants/base/dev-team/sync.yaml').replace(
        '    kind: GitRepository\n    name: dev-team\n',
        '    kind: GitRepository\n    name: flux-system\n    namespace: flux-system\n',
      ),
    }),
    at: 'tenants/base/dev-team/sync.yaml:23',
  },
  'cross-namespace-ref to nothing': {
    rule: 'cross-namespace-ref',
    files: read => ({
      'fleet/tenants/base/dev-team/sync.yaml': read('fleet/tenants/base/dev-team/sync.yaml').replace(
        '    kind: GitRepository\n    name: dev-team\n',
        '    kind: GitRepository\n    name: dev-team\n    namespace: flux-system\n',
      ),
    }),
    at: 'tenants/base/dev-team/sync.yaml:23',
  },
  'kustomize-remote-base': {
    files: read => ({
      'dev-team/base/kustomization.yaml': `${read('dev-team/base/kustomization.yaml').trimEnd()}\n  - https://github.com/evil/x?ref=main\n`,
    }),
    at: 'base/kustomization.yaml:6',
  },
  'namespace-confinement': {
    files: added('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  namespace: kube-system\n'),
    at: 'base/added.yaml:5',
  },
  'cluster-scoped-forbidden': {
    files: added('apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: x\n'),
    at: 'base/added.yaml:2',
  },
  'plaintext-secret': {
    files: added(
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n  namespace: apps\nstringData:\n  password: hunter2\n',
    ),
    at: 'base/added.yaml:7',
  },
}

describe('the reference fleet with one bad change', () => {
  test.for(Object.entries(cases))('%s', async ([name, { rule = name, files, at }], { skip }) => {
    if (!existsSync(shared)) return skip('no reference fleet beside the project')
    const root = scratch()
    cpSync(shared, root, { recursive: true })
    write(
      root,
      files(path => readFileSync(join(shared, path), 'utf8')),
    )
    const args = ['check', 'fleet', '--url', url, '--repo', `${url}#dev-team=dev-team`]
    const ran = await run(root, ...args, '-o', 'json')
    const found = JSON.parse(ran.stdout).violations.map(
      (one: { rule: string; origin: { file: string; line: number } }) => [
        one.rule,
        `${one.origin.file}:${one.origin.line}`,
      ],
    )
    expect(found).toContainEqual([rule, at])
    expect(ran.code).toBe(1)
    const text = (await run(root, ...args)).stdout
    expect(text).toContain(`${at}: violation[${rule}]`)
    expect(text).not.toContain('hunter2')
  })
})

const APP = 'https://github.com/acme/app'
const app = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: app, namespace: apps}
spec: {interval: 1m, url: ${APP}, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: apps}
spec:
  serviceAccountName: dev-team
  interval: 5m
  path: ./deploy
  prune: true
  sourceRef: {kind: GitRepository, name: app}
`
const configMap = (namespace: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: ${namespace}}\n`

describe('the reference fleet whose tenant adds an app of theirs', () => {
  const check = async (more: readonly string[], namespace = 'apps', file = '') => {
    const root = scratch()
    cpSync(shared, root, { recursive: true })
    write(root, {
      ...added(app)(path => readFileSync(join(shared, path), 'utf8')),
      'app/deploy/app.yaml': configMap(namespace),
      ...(file === '' ? {} : { 'fleet/.github/bailiwick.yaml': file }),
    })
    const args = ['check', 'fleet', '--url', url, '--repo', `${url}#dev-team=dev-team`, ...more]
    const ran = await run(root, ...args, '-o', 'json')
    const { result, violations, warnings, requiredApprovals } = JSON.parse(ran.stdout)
    const rules = (found: { rule: string }[]) => found.map(({ rule }) => rule)
    return { result, violations: rules(violations), warnings: rules(warnings), requiredApprovals }
  }
  const isAbsent = !existsSync(shared)
  const GIVEN = ['--repo', `${APP}=app`]

  test.skipIf(isAbsent)('passes with a warning where its clone is given', async () => {
    const { result, warnings, requiredApprovals } = await check(GIVEN)
    expect(result).toBe('pass')
    expect(warnings).toContain('source-ungated-ref')
    expect(requiredApprovals).toEqual([])
  })

  test.skipIf(isAbsent)('is evaluated as the account that applies it', async () => {
    const { result, violations } = await check(GIVEN, 'kube-system')
    expect([result, ...new Set(violations)]).toEqual(['fail', 'namespace-confinement'])
  })

  test.skipIf(isAbsent)('needs an approval without the clone, which the text names', async () => {
    const { result, requiredApprovals } = await check([])
    expect(result).toBe('pass')
    expect(requiredApprovals).toMatchObject([{ rule: 'source-ungated-ref', path: 'base/added.yaml' }])
    expect(requiredApprovals[0].message).toContain(`--repo ${APP}#main=DIR`)
  })

  test.skipIf(isAbsent)('needs none once the fleet lists it', async () => {
    const account = 'system:serviceaccount:apps:dev-team'
    const list = `approvedSources:\n  - {tenant: dev-team, url: ${APP}, ref: {branch: main}, account: '${account}'}\n`
    expect(await check([], 'apps', list)).toMatchObject({ result: 'pass', requiredApprovals: [] })
  })

  test.skipIf(isAbsent)('is a violation where only the platform declares sources', async () => {
    const { violations } = await check(GIVEN, 'apps', 'tenantSources: declared\n')
    expect(violations).toContain('source-ungated-ref')
  })
})
