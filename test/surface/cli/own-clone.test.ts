import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { Files } from '../../fleet/fleet-of.ts'
import { FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'
import { run, scratch, write } from './run-main.ts'

const SYNC = 'clusters/staging/flux-system/gotk-sync.yaml'
const following = (branch: string): Files => ({
  [SYNC]: fleetFiles[SYNC]!.replace('branch: main', `branch: ${branch}`),
})

/** A clone of the fleet's repository without a commit. */
function emptyClone() {
  const dir = scratch()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: dir, stdio: 'pipe' })
  const commit = (files: Files) => {
    write(dir, files)
    git('add', '-A')
    git('commit', '-qm', 'x')
  }
  git('init', '-q', '-b', 'main')
  git('remote', 'add', 'origin', FLEET_URL)
  return { dir, git, commit }
}

/** A clone of the fleet on a branch whose sync is to follow `prod`. */
function clone() {
  const { dir, git, commit } = emptyClone()
  commit(fleetFiles)
  git('checkout', '-qb', 'feature')
  commit(following('prod'))
  return { dir, git, commit }
}
const check = async (dir: string) => {
  const ran = await run(dir, 'check', '--base', 'main', '-o', 'json')
  const { errors, requiredApprovals, notSeen } = JSON.parse(ran.stdout)
  return {
    code: ran.code,
    errors: errors
      .filter((one: { state: string }) => one.state === 'new')
      .map((one: { message: string }) => one.message),
    approvals: requiredApprovals.map(({ rule, message }: { rule: string; message: string }) => `${rule} ${message}`),
    own: notSeen.filter((one: { url: string }) => one.url === FLEET_URL).map((one: { reason: string }) => one.reason),
  }
}
const FOLLOWS = `cluster staging: it would follow "${FLEET_URL}#prod", not "${FLEET_URL}#main" as before`

test('a sync that is to follow a branch that is not there is one required approval, and not visible', async () => {
  const { dir } = clone()
  const reason = `the source follows prod; this clone is on main: --repo ${FLEET_URL}#prod=DIR shows it`
  expect(await check(dir)).toEqual({
    code: 0,
    errors: [],
    approvals: [`source-opaque ${FOLLOWS}. That is not visible, so nothing of it is evaluated: ${reason}`],
    own: [reason],
  })
})

test('a branch that the clone has is read, as it was fetched', async () => {
  const { dir, git, commit } = clone()
  git('update-ref', 'refs/remotes/origin/prod', 'HEAD')
  expect(await check(dir)).toEqual({ code: 0, errors: [], approvals: [`source-ungated-ref ${FOLLOWS}`], own: [] })
  // what is fetched counts, not a branch of that name that somebody began here
  git('checkout', '-qb', 'prod')
  commit({ 'clusters/staging/kustomization.yaml': 'resources: [missing.yaml]\n' })
  git('checkout', '-q', 'feature')
  expect(await check(dir)).toMatchObject({ errors: [] })
  git('update-ref', 'refs/remotes/origin/prod', 'prod')
  expect((await check(dir)).errors.join()).toContain('missing.yaml')
})

test('a branch that still follows this one is an error: Flux would go to and fro', async () => {
  const { dir, git } = clone()
  git('branch', 'prod', 'main')
  expect((await check(dir)).errors).toEqual([
    'Kustomization flux-system: each reconciliation renders another version of it. The content of prod switches the source back',
  ])
})

test('what is checked out stands for the branch that it is evaluated as, never for another one', async () => {
  const { dir } = clone()
  write(dir, { ...following('main'), 'clusters/staging/kustomization.yaml': 'resources: [missing.yaml]\n' })
  expect((await check(dir)).errors.join()).toContain('missing.yaml')
})

test.each([
  ['tag: v1.0.0', ['resource does not exist'], []],
  ['semver: 1.x', ['resource does not exist'], []],
  ['tag: v2.0.0', [], [`the source follows v2.0.0; this clone is on main: --repo ${FLEET_URL}#v2.0.0=DIR shows it`]],
  ['semver: 3.x', [], [`the source follows 3.x; this clone is on main: --repo ${FLEET_URL}#3.x=DIR shows it`]],
  ['branch: main', [], []],
])('a source that is to follow %s is that, not what is checked out', async (ref, errors, own) => {
  const { dir, git, commit } = emptyClone()
  commit({ ...fleetFiles, 'tagged/kustomization.yaml': 'resources: [missing.yaml]\n' })
  git('tag', 'v1.0.0')
  commit({ 'tagged/kustomization.yaml': 'resources: []\n' })
  const of = (kind: string, api: string, spec: string) =>
    `apiVersion: ${api}\nkind: ${kind}\nmetadata: {name: tagged, namespace: flux-system}\nspec: {interval: 1h, ${spec}}\n---\n`
  const kustomization = 'path: ./tagged, prune: true, sourceRef: {kind: GitRepository, name: tagged}'
  write(dir, {
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, tagged.yaml]\n',
    'tenants/tagged.yaml':
      of('GitRepository', 'source.toolkit.fluxcd.io/v1', `url: ${FLEET_URL}, ref: {${ref}}`) +
      of('Kustomization', 'kustomize.toolkit.fluxcd.io/v1', kustomization),
  })
  const found = await check(dir)
  expect(found.errors.map((text: string) => text.replace(/.*missing.yaml.*/, 'resource does not exist'))).toEqual(
    errors,
  )
  expect(found.own).toEqual(own)
})
