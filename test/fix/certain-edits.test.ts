import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository, run, scratch } from '../cli/run-main.ts'

const ACME = join(import.meta.dirname, '../fleets/acme')
const SYNC = 'tenants/base/dev-team/sync.yaml'
const TENANT = ['--repo', 'https://github.com/acme/dev-team=../dev-team']

/** The acme fleet beside its tenants, with another `sync.yaml` of dev-team. */
function fleetWith(change: (sync: string) => string): { readonly fleet: string; readonly sync: () => string } {
  const root = scratch()
  cpSync(ACME, root, { recursive: true })
  const fleet = repository(join(root, 'fleet'), {}, 'https://github.com/acme/fleet')
  repository(join(root, 'dev-team'), {}, 'https://github.com/acme/dev-team')
  const sync = () => readFileSync(join(fleet, SYNC), 'utf8')
  writeFileSync(join(fleet, SYNC), change(sync()))
  return { fleet, sync }
}

const ACCOUNT = '  serviceAccountName: dev-team\n'
const after = (text: string, added: string) => (sync: string) => sync.replace(text, `${text}${added}`)

test.for<[string, string, (sync: string) => string, string]>([
  [
    'target-namespace',
    'a target namespace',
    after(ACCOUNT, '  targetNamespace: kube-system\n'),
    'targetNamespace: apps\n',
  ],
  ['sa-required', 'no service account', sync => sync.replace(ACCOUNT, ''), ACCOUNT],
  [
    'sa-required',
    'an empty service account',
    sync => sync.replace(ACCOUNT, '  serviceAccountName: ""\n'),
    'serviceAccountName: dev-team\n',
  ],
  [
    'cross-namespace-ref',
    'a source of another namespace that its own has, too',
    after('    kind: GitRepository\n', '    namespace: flux-system\n'),
    '    kind: GitRepository\n    name: dev-team\n',
  ],
])('%s: %s has a certain edit, and then passes', async ([rule, , change, wanted]) => {
  const { fleet, sync } = fleetWith(change)
  const shown = await run(fleet, 'fix', ...TENANT)
  expect(shown.stdout).toMatch(new RegExp(`^${SYNC}:\\d+: .*${rule}`, 'm'))
  const { code, stdout } = await run(fleet, 'fix', '--apply', ...TENANT)
  expect(stdout).toMatch(/^\d certain edits? written\npass: /m)
  expect([code, sync().includes(wanted)]).toEqual([0, true])
})

test('the edit of a target namespace is in the repository that has the Kustomization, and is named there', async () => {
  const { fleet, sync } = fleetWith(after(ACCOUNT, '  targetNamespace: kube-system\n'))
  const before = sync()
  const tenant = join(fleet, '../dev-team')
  const fixed = await run(tenant, 'fix', '--apply', '--fleet', '../fleet')
  expect(fixed.stdout).toMatch(/^0 certain edits written\nfail: /m)
  expect(sync()).toBe(before)
  const checked = await run(tenant, 'check', '--fleet', '../fleet')
  const line = before.split('\n').findIndex(text => text.includes('targetNamespace')) + 1
  expect(checked.stdout).toContain(`Set \`targetNamespace\` to \`apps\` at github.com/acme/fleet ${SYNC}:${line}.`)
})
