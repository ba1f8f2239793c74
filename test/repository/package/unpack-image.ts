import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Descriptor {
  readonly digest: string
  readonly size: number
  readonly platform?: { readonly architecture: string }
}

/** What a container runtime reads of an image's configuration. */
export interface ImageConfig {
  readonly config: Readonly<Record<'User' | 'WorkingDir', string>> & {
    readonly Env: readonly string[]
    readonly Cmd: readonly string[]
    readonly Healthcheck: { readonly Test: readonly string[] }
  }
  readonly rootfs: { readonly diff_ids: readonly string[] }
}

/** Unpacks an image layout into a root as a container runtime does: every digest and size is checked. */
export function unpackImage(layout: string, architecture: string, root: string): ImageConfig {
  const blobOf = ({ digest, size }: Descriptor): Buffer => {
    const bytes = readFileSync(join(layout, 'blobs/sha256', digest.replace('sha256:', '')))
    if (digestOf(bytes) !== digest || bytes.length !== size) throw new Error(`${digest}: other bytes or another size`)
    return bytes
  }
  const jsonOf = (descriptor: Descriptor) => JSON.parse(blobOf(descriptor).toString())
  const [named] = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')).manifests
  const { manifests }: { manifests: readonly Descriptor[] } = jsonOf(named)
  const found = manifests.find(({ platform }) => platform?.architecture === architecture)
  if (!found) throw new Error(`${architecture}: the index has no image`)
  const { config, layers } = jsonOf(found)
  mkdirSync(root, { recursive: true })
  for (const layer of layers) {
    const { status, stderr } = spawnSync('tar', ['-xzf', '-', '-C', root], { input: blobOf(layer) })
    if (status !== 0) throw new Error(`tar: ${stderr}`)
  }
  return jsonOf(config)
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
