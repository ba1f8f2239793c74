import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { verifyMac } from '../../../src/flux/sops/decrypt-object.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { main } from '../../../src/surface/cli/main.ts'
import { sourceSecret } from '../../../src/tenants/onboard/credential.ts'
import { printManifests } from '../../../src/tenants/onboard/manifests.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { findFlux } from '../../../tools/envtest/flux-assets.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { openDocument } from '../../flux/sops/open-document.ts'
import { repository, scratch } from './run-main.ts'

const TENANT = 'tenants/base/ops-team'
const BASE = ['ops-team', '--namespace', 'ops', '--cluster', 'staging']
const HTTPS = ['--repo', 'https://github.com/acme/ops-team']
const OCI = ['--repo', 'oci://ghcr.io/acme/ops', '--tag', '1.0']
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${'A'.repeat(64)}\n-----END RSA PRIVATE KEY-----\n`
const TOKEN = 'ghp_p w: "x"'
let dir: string
let identity: string

beforeEach(async () => {
  dir = scratch()
  identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const tenants = 'clusters/staging/tenants.yaml'
  const files: Record<string, string> = fleetFiles('acme/fleet')
  repository(
    dir,
    {
      ...files,
      '.sops.yaml': `creation_rules:\n  - age: ${recipient}\n    encrypted_regex: ^(data|stringData)$\n`,
      [tenants]: files[tenants]!.replace(
        'spec:\n',
        'spec:\n  decryption: {provider: sops, secretRef: {name: sops-age}}\n',
      ),
    },
    'https://github.com/acme/fleet',
  )
})

async function onboard(args: readonly string[], input = '', env: Record<string, string> = {}) {
  const out = { stdout: '', stderr: '' }
  const say = (stream: keyof typeof out) => (text: string) => {
    out[stream] += text
  }
  const stdin = Readable.from([input])
  const io = { stdout: say('stdout'), stderr: say('stderr'), stdin, cwd: dir, env }
  return { code: await main(['onboard', ...BASE, ...args], io), ...out }
}

const quiet = { stdout: () => {}, stderr: () => {}, stdin: Readable.from([]), env: {} }

const read = (path: string) => readFileSync(join(dir, path), 'utf8')

/** A sealed Secret as kustomize-controller opens it. */
async function opened(name: string) {
  const path = `${TENANT}/${name}`
  const [root] = parseDocuments({ repository: '', path }, Buffer.from(read(path)))
  if (root?.type !== 'map') throw new Error('no map')
  expect(await verifyMac([root], { age: [identity] })).toBe('sound')
  const { sops: _sops, ...plain } = await openDocument(root, { age: [identity] })
  return plain
}

/** Files of the working copy that hold a text. */
const holders = (text: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && readFileSync(join(entry.parentPath, entry.name), 'latin1').includes(text))
    .map(({ name }) => name)

test('the role that the flux CLI gives is named as more than most tenants need', async () => {
  const note = 'Without --role, a tenant does not have them.'
  expect((await onboard([...HTTPS, '--role', 'cluster-admin'])).stdout).toContain(note)
  execFileSync('git', ['checkout', '-q', '.'], { cwd: dir })
  execFileSync('git', ['clean', '-qfd'], { cwd: dir })
  expect((await onboard(HTTPS)).stdout).not.toContain(note)
})

describe('credentials that are given', () => {
  test('a token from standard input is only in the sealed file', async () => {
    const ran = await onboard([...HTTPS, '--access', 'token', '--password-file', '-'], `${TOKEN}\n`)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(await opened('auth.yaml')).toMatchObject({
      metadata: { name: 'ops-team-auth', namespace: 'ops' },
      stringData: { username: 'git', password: TOKEN },
    })
    expect([holders(TOKEN), ran.stdout.includes(TOKEN)]).toEqual([[], false])
    expect(parse(read(`${TENANT}/kustomization.yaml`)).resources).toEqual(['rbac.yaml', 'auth.yaml', 'sync.yaml'])
  })

  test('the key of a GitHub App', async () => {
    const args = [...HTTPS, '--access', 'github-app', '--app-id', '7', '--app-installation-id', '8']
    const ran = await onboard([...args, '--app-private-key', '-'], PEM)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect((await opened('auth.yaml')).stringData).toEqual({
      githubAppID: '7',
      githubAppInstallationID: '8',
      githubAppPrivateKey: PEM,
    })
    expect(read(`${TENANT}/sync.yaml`)).toContain('  provider: github\n')
    expect(holders('A'.repeat(64))).toEqual([])
  })

  test('nothing is sealed for a Kustomization that does not decrypt', async () => {
    const path = join(dir, 'clusters/staging/tenants.yaml')
    writeFileSync(path, readFileSync(path, 'utf8').replace(/ *decryption:.*\n/, ''))
    for (const access of ['deploy-key', 'token', 'github-app']) {
      const { code, stderr } = await onboard([...HTTPS, '--access', access])
      expect([code, stderr]).toEqual([2, expect.stringContaining('could not read sealed credentials')])
    }
    expect((await onboard(HTTPS)).code).toBe(0)
  })

  test.each([
    ['deploy-key', '--ssh-key-algorithm=ed25519'],
    ['token', '--password="$TOKEN"'],
    ['github-app', 'flux create secret githubapp'],
  ])('without them: the commands, and a check that waits for the file: %s', async (access, words) => {
    const { code, stdout } = await onboard([...HTTPS, '--access', access])
    expect([code, stdout]).toEqual([0, expect.stringContaining(words)])
    expect(parse(read(`${TENANT}/kustomization.yaml`)).resources).toEqual(['rbac.yaml', 'auth.yaml', 'sync.yaml'])
    const check = await main(['check', '.'], { ...quiet, cwd: dir })
    expect([check, readdirSync(join(dir, TENANT)).includes('auth.yaml')]).toEqual([2, false])
  })

  test.each<[string, readonly string[], string]>([
    ['a password without token access', ['--password-file', '-'], '--password-file needs --access token'],
    ['an empty one', ['--access', 'token', '--password-file', '-'], '--password-file is empty'],
    ['a file that is not there', ['--access', 'token', '--password-file', 'x'], 'ENOENT'],
    ['a key without an App', ['--access', 'github-app', '--app-private-key', '-'], '--app-private-key needs --app-id'],
    ['an App without access', ['--app-id', '5'], '--app-id does not fit --access none'],
    ['no number', ['--access', 'github-app', '--app-id', '5x'], 'is not a number'],
    ['twice', ['--password-file', 'a', '--password-file', 'b'], 'is given 2 times'],
    ['Bailiwick', ['--access', 'github-app', '--app-id', '4711'], 'this is Bailiwick itself'],
  ])('%s: refused, and nothing is written', async (_name, args, words) => {
    const { code, stderr } = await onboard([...HTTPS, ...args], '', { APP_ID: '4711' })
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: dir, encoding: 'utf8' })).toBe('')
  })
})

test('a decryption key of the tenant: sealed for the cluster, its recipient for the team', async () => {
  const ran = await onboard([...HTTPS, '--decryption', 'sops'])
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  const secret = await opened('sops-age.yaml')
  expect(secret.metadata).toEqual({ name: 'ops-team-sops', namespace: 'ops' })
  const key = (secret.stringData as Record<string, string>)['age.agekey']!
  const own = /AGE-SECRET-KEY-1\S+/.exec(key)![0]
  expect(ran.stdout).toContain(`age: ${await identityToRecipient(own)}`)
  expect([own === identity, holders(own), ran.stdout.includes(own)]).toEqual([false, [], false])
  const again = await onboard([...HTTPS, '--decryption', 'sops'])
  expect(again.stdout).toContain('nothing to do')
})

const flux = findFlux()
describe.skipIf(!flux)('the Secrets that the flux CLI exports, byte for byte', () => {
  const exported = (...args: readonly string[]) =>
    execFileSync(flux!.cli, ['create', 'secret', ...args, '--namespace=ops', '--export'], { encoding: 'utf8' })

  test('a token', () => {
    const request = parseOnboardArguments([...BASE, ...HTTPS, '--access', 'token'])
    for (const password of [
      TOKEN,
      'plain',
      '12345',
      'on',
      "a'b",
      'ü',
      '0x1f',
      '-',
      'a: b',
      '#x',
      `${'x '.repeat(60)}x`,
    ]) {
      const ours = printManifests([sourceSecret(request, { kind: 'token', username: 'git', password })])
      const args = ['git', 'ops-team-auth', `--url=${request.url}`, '--username=git', `--password=${password}`]
      expect(ours).toBe(exported(...args).replace(/\n\n$/, '\n'))
    }
  })

  test('a GitHub App', () => {
    const file = join(scratch(), 'app.pem')
    const { privateKey: pem } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    writeFileSync(file, pem)
    const request = parseOnboardArguments([...BASE, ...HTTPS, '--access', 'github-app'])
    const credential = { kind: 'app', appId: '12', installationId: '34', privateKey: pem } as const
    const numbers = ['--app-id=12', '--app-installation-id=34']
    expect(printManifests([sourceSecret(request, credential)])).toBe(
      exported('githubapp', 'ops-team-auth', ...numbers, `--app-private-key=${file}`).replace(/\n\n$/, '\n'),
    )
  })

  test('a registry', () => {
    const request = parseOnboardArguments([...BASE, ...OCI, '--access', 'token'])
    for (const password of ['p', 'a"b\\c', 'x<y>&z']) {
      const ours = printManifests([sourceSecret(request, { kind: 'token', username: 'u', password })])
      const args = ['oci', 'ops-team-auth', '--url=ghcr.io', '--username=u', `--password=${password}`]
      expect(ours).toBe(exported(...args).replace(/\n\n$/, '\n'))
    }
  })
})
