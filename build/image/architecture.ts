/** A CPU architecture by its names in OCI and Debian, and the npm package of Node for it. */
export interface Architecture {
  readonly oci: 'amd64' | 'arm64'
  readonly npm: 'x64' | 'arm64'
}

export const ARCHITECTURES: readonly Architecture[] = [
  { oci: 'amd64', npm: 'x64' },
  { oci: 'arm64', npm: 'arm64' },
]
