/**
 * The script of the documentation page: it filters the side list by the names of operations, resources and their
 * fields. `/` goes to the box, the arrows through what was found, Enter to it, Escape clears the box. Without scripts
 * the box is hidden and the list is whole. The page's Content-Security-Policy contains its hash.
 */
export const FILTER = `'use strict';
const nav=document.querySelector('nav'),box=nav.querySelector('input'),told=box.nextElementSibling;
const groups=[...nav.querySelectorAll('details')];
const rows=[...nav.querySelectorAll('li')].map(item=>{
  const link=item.firstElementChild,about=document.getElementById(link.hash.slice(1)).closest('article');
  return {item,link,fields:[...about.querySelectorAll('.t3 td:first-child code')].map(cell=>cell.textContent),
    name:(link.textContent+' '+link.hash+' '+about.querySelector('h3').textContent).toLowerCase()};
});
function filter(){
  const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let found=0;
  for(const {item,name,fields} of rows){
    const byField=words.filter(word=>!name.includes(word)).map(word=>fields.filter(field=>field.includes(word)));
    item.hidden=byField.some(fitting=>fitting.length===0);
    item.lastElementChild.textContent=[...new Set(byField.flat())].slice(0,3).join(', ');
    if(!item.hidden)found++;
  }
  for(const group of groups){
    group.hidden=!group.querySelector('li:not([hidden])');
    group.open=words.length>0&&!group.hidden;
  }
  for(const place of nav.querySelectorAll('p.group'))place.hidden=words.length>0;
  told.textContent=words.length===0?'':found+' found';
}
box.addEventListener('input',filter);
document.addEventListener('keydown',event=>{
  if(event.ctrlKey||event.metaKey||event.altKey||event.isComposing)return;
  const at=document.activeElement,shown=rows.map(({link})=>link).filter(link=>link.checkVisibility()),nth=shown.indexOf(at);
  const step={ArrowDown:1,ArrowUp:-1}[event.key];
  if(event.key==='/'&&at!==box)box.select();
  else if(event.key==='Escape'&&nav.contains(at)){box.value='';filter();box.focus();}
  else if(event.key==='Enter'&&at===box){box.blur();shown[0]?.click();}
  else if(step&&(at===box||nth>=0))(shown[nth+step]??box).focus();
  else return;
  event.preventDefault();
});
box.parentElement.hidden=false;`;
