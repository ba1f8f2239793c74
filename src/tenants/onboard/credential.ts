import { createHash } from 'node:crypto'
import { BailiwickError } from '../../base/errors.ts'
import { sealedLine } from '../../base/sealed-line.ts'
import { codeSpan as code, isArtifact, keySecretOf, type OnboardRequest, secretOf, sourceAddress } from './request.ts'

/** What became of the credentials of a source. */
type AccessOutcome =
  /** `file`: where the sealed Secret is. `recipients`: who can open it. */
  | {
      readonly state: 'sealed'
      readonly file: string
      readonly repository: string
      readonly key: string
      readonly recipients: readonly string[]
    }
  /** `why`: Markdown; undefined where Bailiwick was not asked to make them. */
  | { readonly state: 'by-hand'; readonly file: string; readonly why: string | undefined }

/** How the cluster reads the repository, for a pull request; undefined where no credentials were asked for. */
export function accessText(request: OnboardRequest, outcome: AccessOutcome): string {
  return ['### Read access', ...(outcome.state === 'sealed' ? sealedText(outcome) : byHand(request, outcome))].join(
    '\n\n',
  )
}

function sealedText({ file, repository, key, recipients }: Extract<AccessOutcome, { state: 'sealed' }>): string[] {
  return [
    [
      `- The deploy key ${code(fingerprintOf(key))} can read ${code(repository)}, and nothing else.`,
      `- Its private half exists only in ${code(file)}, encrypted for ${recipients.map(code).join(', ')}.`,
      '- If this pull request is closed without a merge, the deploy key is deleted.',
    ].join('\n'),
  ]
}

/** As GitHub and `ssh-keygen -l` show it. */
function fingerprintOf(key: string): string {
  const bytes = Buffer.from(key.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`
}

function byHand(request: OnboardRequest, { file, why }: Extract<AccessOutcome, { state: 'by-hand' }>): string[] {
  return [
    ...(why === undefined ? [] : [`⚠️ Bailiwick did not make a deploy key: ${why}`]),
    `The cluster reads ${code(sourceAddress(request))} with the Secret ${code(secretOf(request)!)}. Add it to this branch:`,
    `\`\`\`\n${accessCommands(request, file).join('\n')}\n\`\`\``,
    [
      `- ${code('kustomization.yaml')} beside it lists the file: the check fails until it is there.`,
      NOTES[request.access!],
    ].join('\n'),
  ]
}

const NOTES: Readonly<Record<NonNullable<OnboardRequest['access']>, string>> = {
  'deploy-key': '- Add the public key that `yq` prints as a deploy key of the repository, without write access.',
  token: '- Use a fine-grained token of this repository alone, with `Contents: read`.',
  'github-app':
    '- Use a GitHub App of your own with `Contents: read`, installed on this repository alone. Never put the private key of Bailiwick into a cluster.',
}

/** The commands by which people make the sealed Secret of a source themselves. */
export function accessCommands(request: OnboardRequest, file: string): string[] {
  const name = `--namespace=${request.namespaces[0]} ${secretOf(request)}`
  const seal = `sops encrypt --in-place ${file}`
  switch (request.access!) {
    case 'deploy-key':
      return [
        `flux create secret git ${name} --url=${sourceAddress(request)} --ssh-key-algorithm=ed25519 --export > ${file}`,
        `yq '.stringData."identity.pub"' ${file}`,
        seal,
      ]
    case 'token':
      if (isArtifact(request)) {
        const host = new URL(request.url).host
        const registry = `--url=${host} --username="$USERNAME" --password="$TOKEN"`
        return [`flux create secret oci ${name} ${registry} --export > ${file}`, seal]
      }
      return [
        `flux create secret git ${name} --url=${request.url} --username=git --password="$TOKEN" --export > ${file}`,
        seal,
      ]
    case 'github-app':
      return [
        `flux create secret githubapp ${name} --app-id=${request.appId ?? '"$APP_ID"'} --app-installation-id=${request.installationId ?? '"$INSTALLATION_ID"'} --app-private-key=app.pem --export > ${file}`,
        seal,
      ]
  }
}

/** What people give for a source that is not read by an SSH key. `privateKey`: PEM. */
export type GivenCredential =
  | { readonly kind: 'token'; readonly username: string; readonly password: string }
  | { readonly kind: 'app'; readonly appId: string; readonly installationId: string; readonly privateKey: string }

/** The Secret of a source in clear, as `flux create secret git`, `githubapp` and `oci` write it (flux2 pkg/manifestgen/sourcesecret). */
export function sourceSecret(request: OnboardRequest, credential: GivenCredential) {
  const metadata = { name: secretOf(request)!, namespace: request.namespaces[0]! }
  const plain = { apiVersion: 'v1', kind: 'Secret', metadata }
  if (credential.kind === 'app') {
    const { appId, installationId, privateKey } = credential
    const stringData = { githubAppID: appId, githubAppInstallationID: installationId, githubAppPrivateKey: privateKey }
    return { ...plain, stringData, type: 'Opaque' }
  }
  const { username, password } = credential
  if (!isArtifact(request)) return { ...plain, stringData: { password, username } }
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  const auths = { [new URL(sourceAddress(request)).host]: { username, password, auth } }
  const stringData = { '.dockerconfigjson': goJson({ auths }) }
  return { ...plain, stringData, type: 'kubernetes.io/dockerconfigjson' }
}

/** Indented JSON as Go writes it. */
const goJson = (value: unknown) =>
  JSON.stringify(value, undefined, 2).replaceAll(
    /[<>&\u2028\u2029]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** A key pair for a source, and how the cluster knows the host. */
interface SshCredential {
  /** PEM. */
  readonly privateKey: Uint8Array
  /** `ssh-ed25519 ...`. */
  readonly publicKey: string
  /** Lines of `known_hosts`. */
  readonly knownHosts: readonly string[]
}

/** The fields of a Secret that are not secret. */
export interface SecretFrame {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly type?: string
}

/** The Secret of a source that is read over SSH, in clear (flux2 pkg/manifestgen/sourcesecret). Its bytes are the caller's to erase. */
export function authSecret(frame: SecretFrame, { privateKey, publicKey, knownHosts }: SshCredential) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    ...frame,
    stringData: { identity: privateKey, 'identity.pub': `${publicKey}\n`, known_hosts: knownHosts.join('\n') },
  }
}

/** Refuses (`onboard-input`) Bailiwick's own App as the credential of a source: its key reads and writes every repository. */
export function refuseOwnApp({ appId }: OnboardRequest, own: number | undefined): void {
  if (appId === undefined || own === undefined || appId !== String(own)) return
  throw new BailiwickError(
    'onboard-input',
    `--app-id ${appId}: this is Bailiwick itself, and its private key must never be in a cluster`,
    { fix: 'Register another GitHub App with `Contents: read` alone, and install it on this repository.' },
  )
}

/** A deploy key that Bailiwick made for a tenant, in the text of its pull request. */
export interface DeployKeyRecord {
  /** Ids of the fleet and of the repository that the key can read: names can move. */
  readonly fleet: number
  readonly repository: number
  readonly tenant: string
  /** `ssh-ed25519 ...`. */
  readonly key: string
}

/** The record as a line of the pull request and its commit: a forger could have a key of their own added to the repository. */
const DEPLOY_KEY = sealedLine<DeployKeyRecord>('deploy-key', 2_000)
export const readDeployKeyMarker = DEPLOY_KEY.read
export const deployKeyMarker = ({ fleet, repository, tenant, key }: DeployKeyRecord, secret: string): string =>
  DEPLOY_KEY.write({ fleet, repository, tenant, key }, secret)

/** What became of the key with which the cluster decrypts the files of a tenant. */
type KeyOutcome =
  | {
      readonly state: 'sealed'
      readonly file: string
      /** `age1...` */
      readonly recipient: string
      /** Who can open the file. */
      readonly recipients: readonly string[]
    }
  /** `why`: Markdown. */
  | { readonly state: 'by-hand'; readonly file: string; readonly why: string }

/** The part of a pull request about decryption. */
export function keyText(request: OnboardRequest, outcome: KeyOutcome): string {
  return [
    '### Decryption',
    ...(outcome.state === 'sealed' ? sealedKeyText(request, outcome) : keyByHand(request, outcome)),
  ].join('\n\n')
}

/** The file `.sops.yaml` of a tenant's repository. */
export const tenantSopsConfig = (recipient: string): string =>
  `creation_rules:\n  - path_regex: \\.yaml$\n    encrypted_regex: ^(data|stringData)$\n    age: ${recipient}\n`

function sealedKeyText(
  request: OnboardRequest,
  { file, recipient, recipients }: Extract<KeyOutcome, { state: 'sealed' }>,
) {
  return [
    [
      `- The cluster decrypts what this tenant encrypts, with the Secret ${code(keySecretOf(request)!)}. No other tenant can use this key.`,
      `- Its private half exists only in ${code(file)}, encrypted for ${recipients.map(code).join(', ')}.`,
      `- Add this \`.sops.yaml\` to ${code(request.url)}:`,
    ].join('\n'),
    `\`\`\`yaml\n${tenantSopsConfig(recipient)}\`\`\``,
  ]
}

function keyByHand(request: OnboardRequest, { file, why }: Extract<KeyOutcome, { state: 'by-hand' }>): string[] {
  const secret = keySecretOf(request)!
  const commands = [
    'age-keygen -o age.agekey',
    `kubectl create secret generic ${secret} --namespace=${request.namespaces[0]} --from-file=age.agekey --dry-run=client -o yaml > ${file}`,
    `sops encrypt --in-place ${file}`,
    'rm age.agekey',
  ]
  return [
    `⚠️ Bailiwick did not make a key: ${why}`,
    `The cluster decrypts with the Secret ${code(secret)}. Add it to this branch:`,
    `\`\`\`\n${commands.join('\n')}\n\`\`\``,
    `- Add ${code(file.slice(file.lastIndexOf('/') + 1))} to ${code('resources')} of the ${code('kustomization.yaml')} beside it.`,
  ]
}

/** A decryption key that Bailiwick made for a tenant, in the text of its commit. */
interface TenantKeyRecord {
  /** Id of the fleet: names can move. */
  readonly fleet: number
  readonly tenant: string
  /** `age1...`. */
  readonly recipient: string
  /** Of the file in which its private half is sealed. */
  readonly digest: string
}

/** What a record holds about a file. */
export const sealedDigest = (file: string): string => createHash('sha256').update(file).digest('hex')

/** The record as a line of the commit. */
const TENANT_KEY = sealedLine<TenantKeyRecord>('tenant-key', 2_000)
export const readTenantKeyMarker = TENANT_KEY.read
export const tenantKeyMarker = ({ fleet, tenant, recipient, digest }: TenantKeyRecord, secret: string): string =>
  TENANT_KEY.write({ fleet, tenant, recipient, digest }, secret)
