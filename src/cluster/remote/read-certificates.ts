import { readFileSync } from 'node:fs'
import { BailiwickError } from '../../errors.ts'

/** The certificates in a file of the operator. Throws `not-permitted` where it holds none: the system's would count then. */
export function readCertificates(file: string): string {
  const fix = 'Correct `ca` under `kubeConfigs` in clusters.yaml.'
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new BailiwickError('not-permitted', `the certificates ${file} cannot be read`, { cause, fix })
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new BailiwickError('not-permitted', `${file} holds no certificate`, { fix })
}
