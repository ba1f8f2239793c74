import { describe, expect, test } from 'vitest'
import { git, repository, scratch, write } from './run-main.ts'
import { BAD, DEV, FLEET, fleetFiles, GOOD, run, TENANT } from './situation.ts'

const SECRET =
  'apiVersion: v1\nkind: Secret\nmetadata: { name: login, namespace: flux-system }\nstringData: { password: hunter2hunter2 }\n'
const MISSING = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: gone, namespace: flux-system }
spec: { path: ./gone, prune: true, interval: 1m, sourceRef: { kind: GitRepository, name: flux-system } }
`

/** A tenant's repository beside a fleet in whose own files `more` is wrong. */
function beside(more: Record<string, string>, own: Record<string, string> = GOOD): string {
  const root = scratch()
  repository(`${root}/fleet`, { ...fleetFiles(), ...more }, `${FLEET}.git`)
  return repository(`${root}/dev-team`, own, DEV)
}

const as = (output: string) => [...TENANT, '-o', output]

describe.each(['text', 'github', 'sarif'])("a tenant's run as %s", output => {
  test('counts a violation of the fleet, and fails with it', async () => {
    const ran = await run(beside({ 'clusters/prod/secret.yaml': SECRET }), as(output))
    expect(ran.code).toBe(1)
    expect(ran.stdout).not.toMatch(/plaintext-secret|clusters\/prod\/secret\.yaml/)
    expect(ran.stdout).toMatch(/1 violation elsewhere in the fleet|other repositories of the fleet: 1 violation/)
  })

  test('counts an error of the fleet, and cannot decide', async () => {
    const ran = await run(beside({ 'clusters/prod/gone.yaml': MISSING }), as(output))
    expect(ran.code).toBe(2)
    expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/\.\/gone|gone\.yaml/)
    expect(ran.stderr).toMatch(
      /^error\[[a-z-]+\]: other repositories of the fleet: 1 evaluation error \(-o json lists all\)\n$/,
    )
  })

  test('prints its own beside it', async () => {
    const ran = await run(beside({ 'clusters/prod/secret.yaml': SECRET }, BAD), as(output))
    expect(ran.code).toBe(1)
    expect(ran.stdout).toContain('namespace-confinement')
    expect(ran.stdout).not.toContain('plaintext-secret')
  })

  test('says nothing of others where they have nothing', async () => {
    const ran = await run(beside({}), as(output))
    expect(ran.code).toBe(0)
    expect(ran.stdout).not.toMatch(/elsewhere|other repositories/)
  })

  test('of the fleet itself lists all', async () => {
    const root = scratch()
    const fleet = repository(root, { ...fleetFiles(), 'clusters/prod/secret.yaml': SECRET }, `${FLEET}.git`)
    expect((await run(fleet, ['-o', output])).stdout).toContain('plaintext-secret')
    expect((await run(fleet, ['--fleet', '.', '-o', output])).stdout).toContain('plaintext-secret')
  })
})

test('JSON lists the findings of all', async () => {
  const ran = await run(beside({ 'clusters/prod/secret.yaml': SECRET }), as('json'))
  expect(ran.code).toBe(1)
  const { result, violations, elsewhere } = JSON.parse(ran.stdout)
  expect([result, violations.map((one: { rule: string }) => one.rule), elsewhere]).toEqual([
    'fail',
    ['plaintext-secret'],
    undefined,
  ])
})

test('what stands in the fleet decides nothing of a change, and is counted', async () => {
  const tenant = beside({ 'clusters/prod/secret.yaml': SECRET })
  const clean = await run(tenant, [...TENANT, '--base', 'HEAD'])
  expect(clean.code).toBe(0)
  expect(clean.stdout).toContain('other repositories of the fleet: 1 finding without effect on the result')
  expect(clean.stdout).not.toContain('plaintext-secret')
  write(tenant, BAD)
  git(tenant, 'add', '.')
  const bad = await run(tenant, [...TENANT, '--base', 'HEAD'])
  expect(bad.code).toBe(1)
  expect(bad.stdout).toContain('deploy/config.yaml:3: violation[namespace-confinement]')
})
