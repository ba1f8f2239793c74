import { join } from 'node:path'
import { generateHybridIdentity, generateIdentity, identityToRecipient } from 'age-encryption'
import { afterEach, expect, test, vi } from 'vitest'
import { DEV_URL, devFiles, sealedFleetFiles } from '../../fleet/mini-fleet.ts'
import { sealDocument } from '../../flux/sops/seal-document.ts'
import { git, run, scratch, write } from './run-main.ts'

afterEach(() => vi.unstubAllEnvs())

const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'apps' }, stringData: { a: 'b' } }
const OPS = { 'deploy/kustomization.yaml': 'configMapGenerator: [{name: x, namespace: ops, literals: [a=b]}]\n' }

/** A tenant's repository with an encrypted file, and what was done to it since. */
async function world(change: (text: string) => string, generate = generateIdentity) {
  const dir = scratch()
  const identity = await generate()
  const sealed = JSON.stringify(await sealDocument(SECRET, await identityToRecipient(identity)))
  const files = { ...devFiles, 'deploy/kustomization.yaml': 'resources: [web.yaml, secret.json]\n' }
  write(join(dir, 'fleet'), sealedFleetFiles as Record<string, string>)
  write(join(dir, 'ops'), OPS)
  write(join(dir, 'dev'), { ...files, 'deploy/secret.json': sealed } as Record<string, string>)
  git(join(dir, 'dev'), 'init', '-q', '-b', 'main')
  git(join(dir, 'dev'), 'add', '.')
  git(join(dir, 'dev'), 'commit', '-q', '-m', 'x')
  write(join(dir, 'dev'), { 'deploy/secret.json': change(sealed) })
  write(dir, { 'keys.txt': `# created: today\n${identity}\n`, 'none.txt': 'nothing\n' })
  const args = ['check', 'dev', '--fleet', 'fleet', '--url', DEV_URL, '--base', 'HEAD', '-o', 'json']
  const more = ['--repo', 'https://github.com/acme/ops-team=ops']
  return (...extra: string[]) => run(dir, ...args, ...more, ...extra)
}

const found = (stdout: string) =>
  (JSON.parse(stdout) as { violations: { rule: string; state: string; origin: { file: string } }[] }).violations.map(
    ({ rule, state, origin }) => `${state} ${rule} ${origin.file}`,
  )

test.each([
  ['age', generateIdentity],
  ['post-quantum age', generateHybridIdentity],
])('a file that was changed without its key is a violation where the key is at hand: %s', async (_kind, generate) => {
  const check = await world(text => text.replace('"apps"', '"apps","annotations":{"a":"b"}'), generate)
  const without = await check()
  expect([without.code, found(without.stdout)]).toEqual([0, []])
  const { code, stdout } = await check('--sops-age-key-file', 'keys.txt')
  expect([code, found(stdout)]).toEqual([1, ['new plaintext-secret deploy/secret.json']])
  expect(stdout).not.toContain('AGE-SECRET-KEY')
})

test('the environment names the keys, too', async () => {
  const check = await world(text => text)
  vi.stubEnv('SOPS_AGE_KEY_FILE', '/nowhere/keys.txt')
  expect((await check()).stderr).toContain('cannot be read')
  const { code, stdout } = await check('--sops-age-key-file', 'keys.txt')
  expect([code, found(stdout)]).toEqual([0, []])
})

test('a file without a key is bad usage', async () => {
  const check = await world(text => text)
  const { code, stderr } = await check('--sops-age-key-file', 'none.txt')
  expect([code, stderr]).toEqual([2, expect.stringContaining('contains no age key')])
})
