import { expect, test } from 'vitest'
import { evaluationOf, type Files, said } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const FILE = '.github/bailiwick.yaml'
const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  namespace: kube-system\n'
const world = (file: string, dev: Files = withResource(config)) => miniFleet({ dev, fleet: { [FILE]: file } })
const verdictOf = (file: string, dev?: Files) => evaluationOf(world(file, dev)).verdict

test('mode report says it, fails nobody, and leaves the others blocked', () => {
  for (const file of ['enforcement: report\n', 'tenants: [{name: dev-team, enforcement: report}]\n']) {
    const verdict = verdictOf(file)
    expect(verdict).toMatchObject({
      result: 'pass',
      violations: [],
      warnings: [{ rule: 'namespace-confinement', state: 'new' }],
    })
    expect(verdict.warnings[0]?.message).toContain('reported without blocking')
    const [node] = evaluationOf(world(file)).nodes.filter(({ name }) => name === 'dev-team')
    expect(node?.findings).toEqual([])
  }
  expect(verdictOf('enforcement: report\ntenants: [{name: dev-team, enforcement: block}]\n').result).toBe('fail')
  expect(verdictOf('tenants: [{name: ops-team, enforcement: report}]\n').result).toBe('fail')
})

test('mode report does not make decidable what nobody can decide', () => {
  const broken = { 'deploy/kustomization.yaml': 'resources: [missing.yaml]\n' }
  expect(verdictOf('enforcement: report\n', broken).result).toBe('error')
})

test('a severity is that of the violation, warning and off are no violations', () => {
  const severities = (word: string) => verdictOf(`severities: {namespace-confinement: ${word}}\n`)
  for (const word of ['critical', 'high', 'medium', 'low'])
    expect(severities(word)).toMatchObject({ result: 'fail', violations: [{ severity: word }] })
  expect(severities('warning')).toMatchObject({ result: 'pass', warnings: [{ rule: 'namespace-confinement' }] })
  expect(severities('off')).toMatchObject({ result: 'pass', violations: [], warnings: [] })
  expect(
    verdictOf('severities: {namespace-confinement: off}\n', withResource(config.replace('kube-system', '[x]'))).result,
  ).toBe('error')
})

test('a rule that there is not is an error at its line, in a change too', () => {
  const file = 'profile: restricted\nseverities:\n  namespace-confinment: low\n'
  const { verdict } = evaluationOf(miniFleet({ fleet: { [FILE]: file } }), { base: miniFleet() })
  expect(verdict).toMatchObject({
    result: 'error',
    errors: [{ code: 'config', state: 'new', tenant: '', origin: { file: FILE, line: 3 } }],
  })
  expect(verdict.errors[0]?.message).toContain('severities.namespace-confinment: "namespace-confinment" is not a rule')
  expect(evaluationOf(world(file, {}), { base: world(file, {}) }).verdict.result).toBe('pass')
})

test('a change that breaks the file is an error; what stood broken stays so until it is mended', () => {
  const broken = miniFleet({ fleet: { [FILE]: 'profil: baseline\n' } })
  expect(said(evaluationOf(broken, { base: miniFleet() }))).toEqual([`error config ${FILE}:1`])
  expect(evaluationOf(broken, { base: broken }).verdict.result).toBe('pass')
  expect(evaluationOf(miniFleet(), { base: broken }).verdict.result).toBe('pass')
  expect(evaluationOf(broken).verdict.result).toBe('error')
})

test('a change is judged by the file of its base: switching a rule off switches off nothing yet', () => {
  const off = world('severities: {namespace-confinement: off}\n')
  expect(said(evaluationOf(off, { base: miniFleet() }))).toEqual(['namespace-confinement deploy/extra.yaml:5'])
  expect(evaluationOf(off, { base: world('enforcement: report\n', {}) }).verdict).toMatchObject({ result: 'pass' })
})

test('a tenant may not be on a cluster that the file does not list', () => {
  const at = (clusters: string) =>
    said(evaluationOf(world(`tenants: [{name: dev-team, clusters: [${clusters}]}]\n`, {})))
  expect(at('staging, production')).toEqual([])
  expect(at('production')).toEqual(['namespace-ownership tenants/dev-team.yaml:42'])
  expect(at('')).toEqual(['namespace-ownership tenants/dev-team.yaml:42'])
})

test('a tenant or cluster that there is not is listed, and fails nobody', () => {
  const file = 'tenants:\n  - name: dev-taem\n  - {name: dev-team, clusters: [staging, prodution]}\n'
  const { verdict } = evaluationOf(world(file, {}))
  expect(verdict).toMatchObject({ result: 'pass', violations: [] })
  expect(verdict.warnings.map(one => [one.rule, one.severity, one.origin.line, one.message])).toEqual([
    [
      'config-unused',
      'low',
      2,
      `Tenant "dev-taem" is on none of the fleet's clusters, so its settings have no effect. Allowed: tenants that the fleet declares.`,
    ],
    [
      'config-unused',
      'low',
      3,
      `Tenant "dev-team" lists cluster "prodution", which the fleet does not have. Allowed: the fleet's clusters.`,
    ],
  ])
})

const own = (text: string, more: Files = {}) => ({ ...withResource(config), [FILE]: text, ...more })

test('a tenant’s own file can ask for more', () => {
  const report = 'enforcement: report\nseverities: {namespace-confinement: low}\n'
  expect(verdictOf(report, own('enforcement: block\n'))).toMatchObject({
    result: 'fail',
    violations: [{ severity: 'low' }],
  })
  const high = own('enforcement: block\nseverities: {namespace-confinement: high}\n')
  expect(verdictOf(report, high)).toMatchObject({ result: 'fail', violations: [{ severity: 'high' }] })
  const off = 'severities: {namespace-confinement: off}\n'
  expect(verdictOf(off, own('severities: {namespace-confinement: critical}\n'))).toMatchObject({ result: 'fail' })
})

test('a tenant’s own file cannot ask for less', () => {
  expect(said(evaluationOf(world('', own('enforcement: report\n'))))).toEqual([
    'namespace-confinement deploy/extra.yaml:5',
    `error config ${FILE}:1`,
  ])
  const { verdict } = evaluationOf(world('', own('severities: {namespace-confinement: low}\n')))
  expect(verdict.errors).toMatchObject([{ code: 'config', tenant: 'dev-team', node: 'staging/apps/dev-team' }])
  expect(verdict.errors[0]?.message).toContain(': low is lower than critical')
  expect(verdict.violations).toMatchObject([{ severity: 'critical' }])
  expect(said(evaluationOf(world('', own('severities: {no-rule: low}\n'))))).toContain(`error config ${FILE}:1`)
})

test('the file of a repository that is a fleet itself is about that fleet', () => {
  const fleet = own('enforcement: report\n', { 'clusters/x/a.yaml': '' })
  expect(said(evaluationOf(world('', fleet)))).toEqual(['namespace-confinement deploy/extra.yaml:5'])
})

test('the other tenants are not touched by a tenant’s own file', () => {
  const ops = { 'deploy/kustomization.yaml': 'resources: [config.yaml, x.yaml]\n', 'deploy/x.yaml': config }
  const { verdict } = evaluationOf(
    miniFleet({ dev: { [FILE]: 'enforcement: block\n' }, ops, fleet: { [FILE]: 'enforcement: report\n' } }),
  )
  expect(verdict).toMatchObject({ result: 'pass', warnings: [{ tenant: 'ops-team' }] })
})
