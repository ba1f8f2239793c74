import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parse } from 'yaml'

/**
 * Prints, for each kind of Flux, the first and the last minor version of Flux 2 that serve each of its API versions, and the
 * fields of `spec` that all of them require, as test/flux/crd-facts.ts has them. Argument: a folder with git clones of fluxcd/flux2 and of the controllers, by their names.
 */
const [folder = '.'] = process.argv.slice(2)
const git = (repository: string, ...args: string[]) =>
  execFileSync('git', ['-C', join(folder, repository), ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 })
const lines = (text: string) => text.split('\n').filter(Boolean)
const filesOf = (repository: string, tag: string, path: string) =>
  lines(git(repository, 'ls-tree', '-r', '--name-only', tag, path))

interface Definition {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly {
      readonly name: string
      readonly served: boolean
      readonly schema: {
        readonly openAPIV3Schema: { readonly properties: { readonly spec?: { readonly required?: string[] } } }
      }
    }[]
  }
}

/** By kind and API version: the minor versions that serve it. */
const served = new Map<string, Map<string, number[]>>()
/** By kind: what each of them requires. */
const required = new Map<string, string[]>()
const minors = lines(git('flux2', 'tag', '--list', 'v2.*.0')).flatMap(tag =>
  Number(/^v2\.(\d+)\.0$/.exec(tag)?.[1] ?? []),
)
for (const minor of minors.sort((a, b) => a - b)) {
  for (const file of filesOf('flux2', `v2.${minor}.0`, 'manifests/bases')) {
    const release = /fluxcd\/([a-z-]+)\/releases\/download\/(v\d+\.\d+)\.\d+\/[a-z-]+\.crds\.yaml/.exec(
      git('flux2', 'show', `v2.${minor}.0:${file}`),
    )
    if (!release) continue
    // a patch release serves what its minor version serves, and clones may lack its tag
    const [, controller = '', version = ''] = release
    const [tag] = lines(git(controller, 'tag', '--list', '--sort=-v:refname', `${version}.*`))
    if (tag === undefined) throw new Error(`${controller} has no tag ${version}.*`)
    for (const definition of filesOf(controller, tag, 'config/crd/bases').filter(path => path.endsWith('.yaml'))) {
      const { spec } = parse(git(controller, 'show', `${tag}:${definition}`)) as Definition
      const kind = `${spec.group}/${spec.names.kind}`
      const versions = served.get(kind) ?? new Map<string, number[]>()
      served.set(kind, versions)
      for (const { name, schema } of spec.versions.filter(one => one.served)) {
        versions.set(name, [...(versions.get(name) ?? []), minor])
        const all = schema.openAPIV3Schema.properties.spec?.required ?? []
        required.set(kind, required.get(kind)?.filter(field => all.includes(field)) ?? all.toSorted())
      }
    }
  }
}
const newest = minors.at(-1)
for (const [kind, versions] of [...served].sort()) {
  const byAge = [...versions].sort(([, a], [, b]) => b.at(-1)! - a.at(-1)!)
  const shown = byAge.map(([name, all]) => {
    const last = all.at(-1)
    return `${name}:${all[0]}${last === newest ? '' : `-${last}`}`
  })
  console.log(`${kind} ${shown.join(' ')}, requires ${required.get(kind)?.join(' ') || 'nothing'}`)
}
