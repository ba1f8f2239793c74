import { globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Architecture } from './architecture.ts'
import { run } from './run.ts'

/** An unpacked Debian package. */
export interface DebianPackage {
  readonly name: string
  readonly version: string
  readonly architecture: string
}

/** The libraries that Node links to; the compiler's package, found below, contains the license of the last two. */
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6']

/**
 * Downloads Node's libraries from the Debian archive that the local apt trusts, for any architecture, and unpacks them into
 * `root`. apt verifies their signatures. `scratch` is an empty folder.
 */
export function unpackDebianPackages({ oci }: Architecture, root: string, scratch: string): readonly DebianPackage[] {
  for (const folder of ['state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(scratch, folder), { recursive: true })
  }
  const options = [
    ...[`APT::Architecture=${oci}`, `APT::Architectures::=${oci}`, 'APT::Sandbox::User=root'],
    ...[`Dir::State=${scratch}/state`, 'Dir::State::status=/dev/null', `Dir::Cache=${scratch}/cache`],
  ].flatMap(option => ['-o', option])
  const apt = (...args: readonly string[]) => run(['apt-get', '-qq', ...options, ...args], scratch)
  apt('update')
  apt('download', ...LIBRARIES)
  // the license of libgcc-s1 and libstdc++6 is in the package of their compiler
  const depends = run(['dpkg-deb', '-f', fileOf(scratch, 'libgcc-s1'), 'Depends'], scratch)
  const [compiler] = /gcc-\d+-base/.exec(depends) ?? []
  if (compiler === undefined) throw new Error(`libgcc-s1: depends on no gcc-N-base, which has its license: ${depends}`)
  apt('download', compiler)
  return [...LIBRARIES, compiler].sort().map(name => {
    const file = fileOf(scratch, name)
    run(['dpkg-deb', '-x', file, root], scratch)
    const [version = '', architecture = ''] = ['Version', 'Architecture'].map(field =>
      run(['dpkg-deb', '-f', file, field], scratch).trim(),
    )
    return { name, version, architecture }
  })
}

function fileOf(scratch: string, name: string): string {
  const [file, ...others] = globSync(`${name}_*.deb`, { cwd: scratch })
  if (file === undefined || others.length > 0)
    throw new Error(`${name}: apt downloaded ${others.length + 1} files, not 1`)
  return join(scratch, file)
}
