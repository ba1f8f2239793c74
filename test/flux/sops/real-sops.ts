import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { generateHybridIdentity, generateIdentity, identityToRecipient } from 'age-encryption'
import { generateKey, readKey } from 'openpgp'
import { findProgram } from '../../repository/runner/programs.ts'

/** A key pair of each kind that needs no cloud. */
export interface Pair {
  readonly kind: 'age' | 'pgp'
  /** What `.sops.yaml` names. */
  readonly recipient: string
  readonly secret: string
  /** Armored, of a PGP key. */
  readonly publicKey?: string
}

export async function agePair(): Promise<Pair> {
  const secret = await generateIdentity()
  return { kind: 'age', recipient: await identityToRecipient(secret), secret }
}

export async function postQuantumPair(): Promise<Pair> {
  const secret = await generateHybridIdentity()
  return { kind: 'age', recipient: await identityToRecipient(secret), secret }
}

export async function pgpPair(type: 'ecc' | 'rsa' = 'ecc'): Promise<Pair> {
  const userIDs = [{ name: 'fleet', email: 'fleet@example.com' }]
  const made = await generateKey(type === 'rsa' ? { type, rsaBits: 3072, userIDs } : { type: 'ecc', userIDs })
  const key = await readKey({ armoredKey: made.publicKey })
  const recipient = key.getFingerprint().toUpperCase()
  return { kind: 'pgp', recipient, secret: made.privateKey, publicKey: made.publicKey }
}

/** A folder in which the real `sops` runs, with exactly the keys that are given. */
export class SopsFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'bailiwick-sops-'))

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true })
    writeFileSync(join(this.path, path), text)
  }

  /** What it prints; throws with its message. Without gpg, it reads the keyrings itself. */
  async run(args: readonly string[], keys: readonly Pair[] = []): Promise<string> {
    const home = mkdtempSync(join(this.path, 'gnupg-'))
    const rings = await Promise.all(
      keys.map(async ({ kind, secret }) => (kind === 'pgp' ? await readKey({ armoredKey: secret }) : undefined)),
    )
    const found = rings.filter(key => key !== undefined)
    writeFileSync(join(home, 'pubring.gpg'), Buffer.concat(found.map(key => key.toPublic().write())))
    writeFileSync(join(home, 'secring.gpg'), Buffer.concat(found.map(key => key.write())))
    const age = keys.flatMap(({ kind, secret }) => (kind === 'age' ? [secret] : [])).join('\n')
    return execFileSync(findProgram('sops')!, args, {
      cwd: this.path,
      env: { HOME: home, GNUPGHOME: home, PATH: '', ...(age === '' ? {} : { SOPS_AGE_KEY: age }) },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}
