/** A processor that the image is made for, as OCI and Debian name it, and as npm names Node's package for it. */
export interface Architecture {
  readonly oci: 'amd64' | 'arm64'
  readonly npm: 'x64' | 'arm64'
}

export const ARCHITECTURES: readonly Architecture[] = [
  { oci: 'amd64', npm: 'x64' },
  { oci: 'arm64', npm: 'arm64' },
]
