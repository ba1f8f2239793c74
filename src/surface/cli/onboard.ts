import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import { creationRuleFor, publicKeysIn } from '../../flux/sops/creation-rule.ts'
import { keySecret, sealSecret } from '../../flux/sops/seal-document.ts'
import type { Tree } from '../../git/tree.ts'
import { openWorkingCopy } from '../../git/working-copy.ts'
import { kubeConfigSteps } from '../../tenants/onboard/capsule.ts'
import {
  accessCommands,
  type GivenCredential,
  refuseOwnApp,
  sourceSecret,
  tenantSopsConfig,
} from '../../tenants/onboard/credential.ts'
import { parseOnboardArguments, removedOption } from '../../tenants/onboard/parse-command.ts'
import { onboardingDirectories, planOnboarding } from '../../tenants/onboard/plan.ts'
import { keySecretOf, type OnboardRequest, roleOf } from '../../tenants/onboard/request.ts'
import { AUTH_FILE, KEY_FILE } from '../../tenants/onboard/tenant-files.ts'
import { fleetAt } from '../../tenants/onboard/tenant-layout.ts'
import type { Command, Io } from './command.ts'
import { notFollowed } from './followed-sources.ts'
import type { Given } from './given.ts'
import { repositoryAddress, rootFolder } from './working-copy.ts'
import { writeAllInside } from './write-inside.ts'

/** `bailiwick onboard`: writes into the working copy what the onboarding pull request would contain. */
export const onboard: Command = {
  name: 'onboard',
  usage: [
    ['TENANT', 'name of the tenant'],
    ['--repo URL', "https or ssh address of the tenant's repository"],
    ['--namespace NS...', 'namespace of the tenant (repeatable)'],
    ['--cluster C...', 'cluster of this fleet, by its name in the result of check (repeatable)'],
    ['[--branch NAME]', 'branch that the fleet follows (default: main)'],
    ['[--path ./DIR]', "directory of the tenant's repository (default: its root)"],
    ['[--tag VALUE]', 'what to apply instead of a branch; an oci:// address needs a tag, semver or digest'],
    ['[--semver VALUE]', 'a range of versions'],
    ['[--commit VALUE]', 'one commit of a git repository'],
    ['[--digest VALUE]', 'one artifact'],
    ['[--role ROLE]', 'tenant (default), cluster-admin, admin or edit, inside the namespaces'],
    ['[--service-account NAME]', 'name of its account, as in the flux CLI'],
    ['[--interval DURATION]', 'as in the flux CLI'],
    ['[--timeout DURATION]', 'as in the flux CLI'],
    ['[--prune BOOLEAN]', 'as in the flux CLI'],
    ['[--wait BOOLEAN]', 'as in the flux CLI'],
    ['[--access HOW]', 'credentials: none (default), deploy-key, token or github-app'],
    ['[--username NAME]', 'for token: the user (default: git)'],
    ['[--password-file FILE|-]', 'for token: encrypts it by .sops.yaml'],
    ['[--app-id N]', 'for github-app: id of the App'],
    ['[--app-installation-id N]', 'for github-app: id of its installation'],
    ['[--app-private-key FILE|-]', 'for github-app: encrypts its key by .sops.yaml'],
    ['[--decryption sops]', 'a decryption key for this tenant alone, encrypted by .sops.yaml'],
    ['[--team ORG/TEAM]', 'for CODEOWNERS in the template of the fleet'],
    ['[--starter VALUE]', 'removed: its value is ignored'],
  ],
  notes: `Without a file for the credentials, and for deploy-key, the commands to run are printed.`,
  async run(given, io) {
    const { rest, options } = takeSecretOptions(given)
    const asked = parseOnboardArguments(rest)
    const warning = removedOption(rest.join(' '))
    if (warning !== undefined) io.stderr(`warning: ${warning}\n`)
    refuseOwnApp(asked, Number((io.env ?? process.env).APP_ID) || undefined)
    const dir = await rootFolder(io.cwd)
    const tree = await openWorkingCopy(dir)
    const here = await repositoryAddress(dir, {})
    const { url, usual = here.branch } = here
    // the files are often written on a branch of their own, and merged into the one that clusters follow
    const branch = notFollowed([fleetAt(tree, url, here.branch)], here) ? usual : here.branch
    const directories = onboardingDirectories(asked, tree, url, branch)
    const { request, notes } = await sealTenant(asked, tree, directories, options, io)
    const plan = planOnboarding(request, tree, url, branch)
    const { files, summary } = plan
    await writeAllInside(dir, files)
    const lines = [
      ...files.map(file => `${file.change} ${visible(file.path)}`),
      ...[
        ...summary,
        ...(files.length === 0
          ? []
          : [...notes, ...roleNotes(request), ...kubeConfigSteps(plan.request, plan.capsule)]),
      ].map(note => visible(note)),
      files.length === 0
        ? `nothing to do: tenant ${request.tenant} is onboarded already`
        : `onboarded ${request.tenant}`,
    ]
    io.stdout(`${lines.join('\n')}\n`)
    return 0
  },
}

/** Warns about the role that `flux create tenant` writes, which grants more than most tenants need. */
function roleNotes(request: OnboardRequest): string[] {
  if (roleOf(request) !== 'cluster-admin') return []
  return [
    "cluster-admin allows everything inside the namespaces: quotas and the status of Flux's objects too. Without --role, a tenant does not have them.",
  ]
}

const SECRET_OPTIONS = ['--username', '--password-file', '--app-private-key'] as const

/** The options that only the command line has. */
function takeSecretOptions({ args, one }: Given): { rest: readonly string[]; options: SecretOptions } {
  const [username, passwordFile, privateKeyFile] = SECRET_OPTIONS.map(one)
  const isSecret = (arg: string) => SECRET_OPTIONS.some(option => arg === option || arg.startsWith(`${option}=`))
  const isOwn = (arg: string, at: number) => isSecret(arg) || SECRET_OPTIONS.some(option => args[at - 1] === option)
  return { rest: args.filter((arg, at) => !isOwn(arg, at)), options: { username, passwordFile, privateKeyFile } }
}

/** Credentials of a tenant's source; a secret is read from a file or from standard input, never from an argument. */
interface SecretOptions {
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

/** Seals what a tenant needs by the creation rules of the working copy, as far as possible. Throws `sops-config`. */
async function sealTenant(
  request: OnboardRequest,
  tree: Tree,
  directories: readonly string[],
  options: SecretOptions,
  io: Io,
): Promise<SealedRequest> {
  const notes: string[] = []
  const sealed: { sealed?: string; sealedKey?: string } = {}
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
