import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import type { Tree } from '../git/tree.ts'
import { accessCommands } from '../onboard/credential/access-text.ts'
import { tenantSopsConfig } from '../onboard/credential/key-text.ts'
import { type GivenCredential, sourceSecret } from '../onboard/credential/source-secret.ts'
import { keySecretOf, type OnboardRequest } from '../onboard/request.ts'
import { AUTH_FILE, KEY_FILE } from '../onboard/tenant-manifests.ts'
import { keySecret } from '../sops/key-secret.ts'
import { publicKeysIn } from '../sops/public-keys-in.ts'
import { creationRuleFor } from '../sops/rules/creation-rule.ts'
import { withTenantRule } from '../sops/rules/with-tenant-rule.ts'
import { sealSecret } from '../sops/seal-document.ts'
import type { Io } from './command.ts'

/** What people give a tenant's source on the command line; a secret is in a file or on standard input, never an argument. */
export interface SecretOptions {
  readonly username: string | undefined
  readonly passwordFile: string | undefined
  readonly privateKeyFile: string | undefined
}

interface SealedRequest {
  readonly request: OnboardRequest
  /** What is left to do. */
  readonly notes: readonly string[]
}

const LONGEST = 64 * 1024

/** Seals what a tenant needs by the creation rules of the working copy, as far as that is possible here. Throws `sops-config`. */
export async function sealTenant(
  request: OnboardRequest,
  tree: Tree,
  directories: readonly string[],
  options: SecretOptions,
  io: Io,
): Promise<SealedRequest> {
  const notes: string[] = []
  const sealed: { sealed?: string; sealedKey?: string; sopsConfig?: NonNullable<OnboardRequest['sopsConfig']> } = {}
  const [directory = ''] = directories
  const file = `${directory}/${AUTH_FILE}`
  const credential = await givenCredential(request, options, io)
  if (directories.length > 1 && (credential || request.decryption)) {
    throw new BailiwickError(
      'onboard-layout',
      'clusters keep this tenant in several directories, and a Secret is for one',
      {
        fix: 'Onboard it on one cluster at a time.',
      },
    )
  }
  if (credential) sealed.sealed = await seal(tree, file, sourceSecret(request, credential))
  else if (request.access)
    notes.push(
      `Credentials of the source are missing: ${file} is listed and must exist. Run:`,
      ...accessCommands(request, file),
    )
  const name = keySecretOf(request)
  if (name !== undefined && !tree.entry(`${directory}/${KEY_FILE}`)) {
    const { secret, recipient } = await keySecret({ secret: name, namespace: request.namespaces[0]! })
    sealed.sealedKey = await seal(tree, `${directory}/${KEY_FILE}`, secret)
    notes.push(`.sops.yaml for ${request.url}:`, ...tenantSopsConfig(recipient).trimEnd().split('\n'))
  } else if (name !== undefined) {
    sealed.sealedKey = new TextDecoder().decode(tree.read(`${directory}/${KEY_FILE}`))
  }
  if (credential || (name !== undefined && !tree.entry(`${directory}/${KEY_FILE}`))) {
    const { sopsConfig, note } = await withTenantRule(tree, { directory, file })
    if (sopsConfig) sealed.sopsConfig = sopsConfig
    if (note !== undefined) notes.push(note)
  }
  if (!credential && tree.entry(file)) sealed.sealed = new TextDecoder().decode(tree.read(file))
  return { request: { ...request, ...sealed }, notes }
}

async function seal(tree: Tree, file: string, secret: Parameters<typeof sealSecret>[0]): Promise<string> {
  const rule = await creationRuleFor(tree, file)
  const publicKeys = rule.recipients.some(({ kind }) => kind === 'pgp') ? publicKeysIn(tree) : []
  return sealSecret(secret, rule, { now: new Date(), random: randomBytes, publicKeys })
}

async function givenCredential(
  { access, appId, installationId }: OnboardRequest,
  { username, passwordFile, privateKeyFile }: SecretOptions,
  io: Io,
): Promise<GivenCredential | undefined> {
  if ((passwordFile ?? username) !== undefined && access !== 'token') throw unfit('--password-file', 'token')
  if (privateKeyFile !== undefined && access !== 'github-app') throw unfit('--app-private-key', 'github-app')
  if (passwordFile !== undefined) {
    const password = (await readSecret('--password-file', passwordFile, io)).replace(/\r?\n$/, '')
    return { kind: 'token', username: username ?? 'git', password }
  }
  if (privateKeyFile === undefined) return undefined
  if (appId === undefined || installationId === undefined) {
    throw usage('--app-private-key needs --app-id and --app-installation-id')
  }
  const privateKey = await readSecret('--app-private-key', privateKeyFile, io)
  if (!/^-----BEGIN (?:RSA )?PRIVATE KEY-----$/m.test(privateKey)) {
    throw usage('--app-private-key is not the private key of a GitHub App (PEM)')
  }
  return { kind: 'app', appId, installationId, privateKey }
}

/** The content of a file, or of standard input for `-`. */
async function readSecret(option: string, path: string, io: Io): Promise<string> {
  const text = path === '-' ? await readInput(io) : await readFile(option, resolve(io.cwd, path))
  if (text.trim() === '') throw usage(`${option} is empty`)
  if (text.length > LONGEST) throw usage(`${option} is longer than ${LONGEST} characters`)
  return text
}

async function readInput({ stdin }: Io): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of stdin) {
    const bytes = Buffer.from(part)
    size += bytes.length
    parts.push(bytes)
    if (size > LONGEST) break
  }
  return Buffer.concat(parts).toString('utf8')
}

async function readFile(option: string, path: string): Promise<string> {
  const handle = await open(path).catch((cause: NodeJS.ErrnoException) => {
    throw usage(`${option} ${JSON.stringify(path)}: ${cause.code ?? 'cannot be read'}`)
  })
  try {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(LONGEST + 1) })
    return buffer.subarray(0, bytesRead).toString('utf8')
  } finally {
    await handle.close()
  }
}

const unfit = (option: string, access: string) => usage(`${option} needs --access ${access}`)

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: 'Run bailiwick help onboard for its options.' })
}
