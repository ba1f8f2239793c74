import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { bundledPackages } from '../bundled-packages.ts'
import { run } from '../image/run.ts'
import type { WrittenImage } from '../image/write-image.ts'

interface Component {
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly scope?: string
}

interface Bom {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp: string; readonly component: Pick<Component, 'name' | 'version'> }
  readonly components: readonly Component[]
}

/**
 * A CycloneDX bill of materials of the package and the image: the npm packages in the bundle (from `npm sbom`), Node, and
 * Debian's libraries. `scratch` is a folder for a build of the bundle. The same commit and packages yield the same bytes.
 */
export async function sbom(
  root: string,
  { created, packages, node }: Pick<WrittenImage, 'created' | 'packages' | 'node'>,
  scratch: string,
): Promise<Bom> {
  const modules = join(root, 'node_modules')
  const chunks = await bundle(join(scratch, 'bundle'))
  const folders = bundledPackages(
    chunks.flatMap(({ moduleIds }) => moduleIds),
    modules,
  )
  const bundled = folders.map(folder => {
    const { name, version } = JSON.parse(readFileSync(join(modules, folder, 'package.json'), 'utf8'))
    return `${name}@${version}`
  })
  const { dependencies, ...all } = JSON.parse(
    run(['npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--sbom-type=application'], root),
  )
  const known = new Map<string, Component>(all.components.map((one: Component) => [`${one.name}@${one.version}`, one]))
  // a package may lie in several places
  const own = [...new Set(bundled)].map(name => {
    const component = known.get(name)
    if (!component) throw new Error(`${name}: bundled, but not in package-lock.json. Run npm ci.`)
    // npm lists it as a development dependency, but the bundle contains it
    return { ...component, scope: 'required' }
  })
  const runtime = [
    { name: 'node', version: node.version, purl: `pkg:generic/node@${node.version}` },
    ...packages.map(({ name, version, architecture }) => ({
      ...{ name, version: `${version}` },
      purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`,
    })),
  ].map(one => ({ type: 'library', ...one, 'bom-ref': one.purl, scope: 'required' }))
  // npm uses the name of the folder
  const component = { ...all.metadata.component, name: 'bailiwick' }
  const timestamp = new Date(created).toISOString()
  const components = [...own, ...runtime]
  const bom = { ...all, metadata: { ...all.metadata, timestamp, component }, components }
  return { ...bom, serialNumber: `urn:uuid:${uuidOf(JSON.stringify({ ...bom, serialNumber: '' }))}` }
}

/** A UUID of version 8, which is free to be made of anything (RFC 9562): of the content. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
