import { readFile } from 'node:fs/promises'
import { BailiwickError } from '../../base/errors.ts'
import type { BrokenSeal, Fleet } from '../../fleet/model/fleet.ts'
import { verifyMac } from '../../flux/sops/decrypt-object.ts'
import { allDocuments, encryptedDocuments } from '../../rules/secrets/sops-files.ts'

const IDENTITY = /^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58}$/

/**
 * The age identities of a file, one per line, as SOPS reads them; without a file, those of the file that the
 * environment names, else none. Throws `usage` for a file that cannot be read or contains none.
 */
export async function ageIdentities(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string[]> {
  const path = file ?? environment.SOPS_AGE_KEY_FILE
  if (!path) return []
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new BailiwickError('usage', `age key file ${path} cannot be read`, {
      fix: 'Correct the path.',
      cause,
    })
  }
  const identities = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => IDENTITY.test(line))
  if (identities.length > 0) return identities
  const fix = 'Add one line AGE-SECRET-KEY-1... per key.'
  throw new BailiwickError('usage', `age key file ${path} contains no age key`, { fix })
}

/** Adds the encrypted files whose MAC is wrong, among those that one of the keys opens. */
export async function withSeals(fleet: Fleet, identities: readonly string[]): Promise<Fleet> {
  if (identities.length === 0) return fleet
  const brokenSeals: BrokenSeal[] = []
  for (const { url, ref, tree } of fleet.repositories) {
    const files = new Set([...encryptedDocuments(tree, url)].map(({ file }) => file))
    for (const file of files) {
      const why = await verifyMac(allDocuments(tree, url, file), { age: identities })
      if (why !== 'sound' && why !== 'unknown') brokenSeals.push({ url, ref, file, why })
    }
  }
  return { ...fleet, brokenSeals }
}
