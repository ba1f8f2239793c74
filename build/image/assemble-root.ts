import { chmodSync, copyFileSync, cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Architecture } from './architecture.ts'
import { type DebianPackage, unpackDebianPackages } from './debian-packages.ts'
import { run } from './run.ts'
import { USER } from './tar-layer.ts'

/** The folders of an image's layers, from the lowest up. */
export interface Root {
  readonly layers: readonly { readonly folder: string; readonly owned: readonly string[] }[]
  readonly packages: readonly DebianPackage[]
}

/** Folders of the base layer that the processes write to. */
const WRITABLE = ['tmp', 'var/cache/bailiwick']

/** Files of the Debian packages that no process reads; licenses stay. */
const UNUSED = ['usr/share/{lintian,locale,man,bug,gdb}', 'usr/lib/*/{gconv,audit}', 'etc/ld.so.conf.d']

interface Sources {
  /** The folder with dist. */
  readonly app: string
  readonly nodeVersion: string
  /** An empty folder. */
  readonly scratch: string
}

/** Assembles the image layers for one architecture: Debian's libraries, Node, the App. No shell, no package manager. */
export function assembleRoot(architecture: Architecture, { app, nodeVersion, scratch }: Sources): Root {
  const [base, node, own, debian] = ['base', 'node', 'app', 'debian'].map(name => {
    const folder = join(scratch, name)
    mkdirSync(folder, { recursive: true })
    return folder
  }) as [string, string, string, string]
  const packages = unpackDebianPackages(architecture, base, debian)
  for (const path of globSync(UNUSED, { cwd: base })) rmSync(join(base, path), { recursive: true })
  for (const path of WRITABLE) mkdirSync(join(base, path), { recursive: true })
  mkdirSync(join(base, 'etc'), { recursive: true })
  writeFileSync(join(base, 'etc/passwd'), `root:x:0:0::/root:/\nnode:x:${USER}:${USER}::/home/node:/\n`)
  writeFileSync(join(base, 'etc/group'), `root:x:0:\nnode:x:${USER}:\n`)
  writeFileSync(join(base, 'etc/nsswitch.conf'), 'hosts: files dns\n')
  // image scanners read this folder if the image has no package manager
  const status = join(base, 'var/lib/dpkg/status.d')
  mkdirSync(status, { recursive: true })
  for (const { name, version, architecture: of } of packages) {
    writeFileSync(
      join(status, name),
      `Package: ${name}\nVersion: ${version}\nArchitecture: ${of}\nStatus: install ok installed\n`,
    )
  }
  unpackNode(architecture, nodeVersion, node)
  cpSync(join(app, 'dist'), join(own, 'app/dist'), { recursive: true })
  const layers = [base, node, own].map(folder => ({ folder, owned: folder === base ? WRITABLE : [] }))
  return { layers, packages }
}

/** Unpacks Node from the npm package that tests and builds also use, for the given architecture; npm verifies its integrity. */
function unpackNode({ npm }: Architecture, version: string, folder: string): void {
  const packed = run(['npm', 'pack', '--silent', `node-linux-${npm}@${version}`], folder).trim()
  run(['tar', '-xzf', packed, 'package/bin/node', 'package/LICENSE'], folder)
  mkdirSync(join(folder, 'usr/local/bin'), { recursive: true })
  mkdirSync(join(folder, 'usr/local/share/doc/node'), { recursive: true })
  copyFileSync(join(folder, 'package/bin/node'), join(folder, 'usr/local/bin/node'))
  copyFileSync(join(folder, 'package/LICENSE'), join(folder, 'usr/local/share/doc/node/LICENSE'))
  chmodSync(join(folder, 'usr/local/bin/node'), 0o755)
  rmSync(join(folder, 'package'), { recursive: true })
  rmSync(join(folder, packed))
}
