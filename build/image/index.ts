import { writeImage } from './write-image.ts'

const [folder = 'dist-image'] = process.argv.slice(2)
const { digest } = await writeImage(folder)
console.log(`${folder}: image layout of ${digest}`)
