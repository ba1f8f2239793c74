import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { ARCHITECTURES, type Architecture } from './architecture.ts'
import { assembleRoot } from './assemble-root.ts'
import type { DebianPackage } from './debian-packages.ts'
import { writeOciLayout } from './oci-layout.ts'
import { run } from './run.ts'
import { tarLayer } from './tar-layer.ts'

export interface WrittenImage {
  /** Digest of the index of all architectures. */
  readonly digest: string
  /** Time of the commit (ISO 8601). */
  readonly created: string
  readonly packages: readonly DebianPackage[]
  readonly node: { readonly version: string }
}

const ROOT = join(import.meta.dirname, '../..')

/** Bundles the App and writes its image as an OCI layout to a new folder. Needs npm, apt and dpkg. */
export async function writeImage(
  folder: string,
  architectures: readonly Architecture[] = ARCHITECTURES,
): Promise<WrittenImage> {
  const scratch = mkdtempSync(join(tmpdir(), 'bailiwick-image-'))
  try {
    const app = join(scratch, 'app')
    await bundle(join(app, 'dist'))
    const { version, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const roots = architectures.map(architecture => ({
      architecture,
      root: assembleRoot(architecture, {
        app,
        nodeVersion: devDependencies.node,
        scratch: join(scratch, architecture.oci),
      }),
    }))
    const images = await Promise.all(
      roots.map(async ({ architecture, root }) => ({
        architecture,
        layers: await Promise.all(root.layers.map(layer => tarLayer(layer.folder, layer.owned))),
      })),
    )
    const [revision = '', created = ''] = run(['git', 'log', '-1', '--format=%H%n%cI'], ROOT).split('\n')
    const digest = writeOciLayout(folder, images, { version, revision, created })
    return {
      digest,
      created,
      packages: roots.flatMap(({ root }) => root.packages),
      node: { version: devDependencies.node },
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
