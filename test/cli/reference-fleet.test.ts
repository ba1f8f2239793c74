import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run, scratch, write } from './run-main.ts'

const shared = join(import.meta.dirname, '../../../shared/fleets/flux2-multi-tenancy')
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
