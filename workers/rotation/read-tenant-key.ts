import { commandError } from '../../src/command/command-error.ts'
import { readAuthFile } from '../../src/credentials/read-auth-file.ts'
import { rotateByHand } from '../../src/credentials/rotation-text.ts'
import type { SourceSecret } from '../../src/credentials/source-secrets.ts'
import { BailiwickError } from '../../src/errors.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Tree } from '../../src/git/tree.ts'
import { type NamedRepository, readRepository } from '../../src/github/contents/read-repository.ts'
import type { SecretFrame } from '../../src/onboard/credential/auth-secret.ts'
import { readCredentials } from './read-credentials.ts'
import type { RotationQuestion } from './rotation-question.ts'

/** The sealed key of a tenant, as it is on the fleet's branch. */
export interface TenantKey {
  readonly tree: Tree
  readonly file: string
  /** Of the file. */
  readonly content: string
  readonly frame: SecretFrame
  /** As the cluster reads it, `ssh://...`. */
  readonly address: string
  readonly repository: NamedRepository
  readonly clusters: readonly string[]
  /** What to do where Bailiwick cannot do it. */
  readonly byHand: string
}

/** Finds the sealed key of a tenant. Throws `command-input` where there is none that could be replaced, with the steps by hand. */
export async function readTenantKey(question: RotationQuestion): Promise<TenantKey> {
  const { reader, fleet, tenant } = question
  const { report, snapshot } = await readCredentials(question)
  const sources = report.sources.filter(one => one.tenant === tenant)
  if (sources.length === 0) {
    const known = [...new Set(report.sources.map(one => one.tenant))].slice(0, 20).join(', ')
    throw commandError(
      `the fleet declares no source of a tenant ${JSON.stringify(tenant)}`,
      known === '' ? 'No tenant has a source.' : `Tenants with sources: ${known}`,
    )
  }
  const sealed = onlyOne(tenant, sources)
  const tree = openSnapshot(snapshot)
  const bytes = tree.read(sealed.file!)
  const frame = readAuthFile(sealed.file!, bytes)
  const { address, url, file = '' } = sealed
  const [namespace = '', name = ''] = sealed.secret!.split('/')
  const byHand = rotateByHand({ name, namespace, address, file })
  const [, host, owner, repo] = /^https:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(url) ?? []
  const isHere = host === new URL(fleet.url).host && owner !== undefined && repo !== undefined
  const repository = isHere ? await readRepository(reader, { owner, repo }) : undefined
  if (!repository || repository.url !== url) {
    throw commandError(`the App is not installed on ${url}, or that is not its present name`, byHand)
  }
  const clusters = [...new Set(sources.filter(one => one.file === file).map(({ cluster }) => cluster))].sort()
  return { tree, file, content: Buffer.from(bytes).toString('utf8'), frame, address, repository, clusters, byHand }
}

/** The one sealed SSH key by which all sources of the tenant are read. */
function onlyOne(tenant: string, sources: readonly SourceSecret[]): SourceSecret {
  const ssh = sources.filter(({ secret, address }) => secret !== undefined && /^ssh:|^[\w.-]+@/.test(address))
  const [first] = ssh
  if (!first) {
    throw commandError(
      `tenant ${tenant} has no source with an SSH address and a Secret`,
      `Its sources: ${sources.map(({ source, address }) => `${source} (${address})`).join(', ')}`,
    )
  }
  const open = ssh.find(({ state, file }) => state !== 'sealed' || file === undefined)
  if (open) {
    const why = open.state === 'clear' ? 'is not encrypted' : 'has no file in the repository of the fleet'
    throw commandError(
      `the Secret ${open.secret} on ${open.cluster} ${why}`,
      'Encrypt it with SOPS in a file of its own, next to the source.',
    )
  }
  const other = ssh.find(({ file, url }) => file !== first.file || url !== first.url)
  if (other) {
    throw new BailiwickError('command-input', `tenant ${tenant} has more than one sealed key`, {
      fix: `One key is one file for one repository. Rotate by hand: ${[...new Set(ssh.map(({ file }) => file))].join(', ')}`,
    })
  }
  return first
}
